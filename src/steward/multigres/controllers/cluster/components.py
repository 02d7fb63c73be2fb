"""The components of a cluster: its topology server, cells, table groups and admin workloads, with their readiness.

A child that the cluster does not own yet is no component of it: a new cluster may find the children of a deleted one of
the same name, all ready, and their specs may be others than it asks for.
"""

from typing import TypeVar

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, controller_of
from steward.multigres import names
from steward.multigres.controllers.cluster.admin_pods import AdminPods
from steward.multigres.controllers.cluster.summaries import live_component
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import ComponentStatus, topo_server_component
from steward.multigres.views import ClusterView

Child = TypeVar("Child", bound=HasMetadata)


class ClusterComponents:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self.servers = context.store(rules.topo_server)
        self.cells = context.store(rules.cell)
        self.groups = context.store(rules.table_group)
        self.admin = AdminPods(context)

    def find(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        return [
            *self._server_components(cluster, resolved),
            *(self._cell_component(cluster, cell.name) for cell in resolved.cells),
            *(
                self._group_component(cluster, group.database, group.name)
                for database in resolved.databases
                for group in database.groups
            ),
            *self.admin.components(cluster, resolved),
        ]

    def _server_components(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        if resolved.topo.etcd is None:
            return []
        name = names.global_topo(cluster.metadata.name)
        live = self.servers.get(Key(cluster.metadata.namespace, name))
        return [topo_server_component(name, owned(live, cluster))]

    def _cell_component(self, cluster: ClusterView, cell: str) -> ComponentStatus:
        live = self.cells.get(Key(cluster.metadata.namespace, names.cell(cluster.metadata.name, cell)))
        return live_component(f"cell {cell}", owned(live, cluster))

    def _group_component(self, cluster: ClusterView, database: str, group: str) -> ComponentStatus:
        name = names.table_group(cluster.metadata.name, database, group)
        live = self.groups.get(Key(cluster.metadata.namespace, name))
        return live_component(f"table group {database}/{group}", owned(live, cluster))


def owned(child: Child | None, cluster: ClusterView) -> Child | None:
    """The child if the cluster is its controller."""
    owner = None if child is None else controller_of(child.metadata)
    return child if owner is not None and owner.uid == cluster.metadata.uid else None
