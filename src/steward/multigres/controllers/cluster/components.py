"""The components of a cluster: its topology server, cells, table groups and admin workloads, with their readiness."""

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.controllers.cluster.admin_pods import AdminPods
from steward.multigres.controllers.cluster.summaries import live_component
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import ComponentStatus, topo_server_component
from steward.multigres.views import ClusterView


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
        return [topo_server_component(name, self.servers.get(Key(cluster.metadata.namespace, name)))]

    def _cell_component(self, cluster: ClusterView, cell: str) -> ComponentStatus:
        live = self.cells.get(Key(cluster.metadata.namespace, names.cell(cluster.metadata.name, cell)))
        return live_component(f"cell {cell}", live)

    def _group_component(self, cluster: ClusterView, database: str, group: str) -> ComponentStatus:
        name = names.table_group(cluster.metadata.name, database, group)
        live = self.groups.get(Key(cluster.metadata.namespace, name))
        return live_component(f"table group {database}/{group}", live)
