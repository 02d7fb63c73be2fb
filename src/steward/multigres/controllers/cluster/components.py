"""The components of a cluster: its topology server, cells, table groups and admin workloads, with their readiness."""

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.cluster.admin_pods import admin_cluster_of
from steward.multigres.controllers.cluster.summaries import live_component
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import (
    ComponentStatus,
    Serving,
    topo_server_component,
    workload_component,
)
from steward.multigres.views import ClusterView

ADMIN_PODS = "admin"


class ClusterComponents:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self.context = context
        self.servers = context.store(rules.topo_server)
        self.cells = context.store(rules.cell)
        self.groups = context.store(rules.table_group)
        self.deployments = context.store(rules.deployment)
        self.pods = context.store(rules.pod)
        self.pods.add_index(ADMIN_PODS, lambda pod: [str(key) for key in admin_cluster_of(pod)])

    def find(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        return [
            *self._server_components(cluster, resolved),
            *(self._cell_component(cluster, cell.name) for cell in resolved.cells),
            *(
                self._group_component(cluster, group.database, group.name)
                for database in resolved.databases
                for group in database.groups
            ),
            *self._admin_components(cluster, resolved),
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

    def _admin_components(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        """A cluster serves without them."""
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        pods = self.pods.by_index(ADMIN_PODS, str(Key(namespace, name)))
        problems = self.context.pod_problems.find(pods)
        specs = {
            names.multiadmin(name): resolved.multiadmin,
            names.multiadmin_web(name): resolved.multiadmin_web,
        }
        return [
            workload_component(
                deployment,
                or_default(spec.replicas, 1),
                self.deployments.get(Key(namespace, deployment)),
                problems,
            )._replace(serving=Serving.YES)
            for deployment, spec in specs.items()
        ]
