"""What dashboards show of clusters, read from the caches when somebody looks.

Nothing is counted along the way, so nothing can go stale: a series ends with its object, and an old phase with the
phase. Every replica shows the same figures, since every replica has the caches: rules take the maximum over replicas.
"""

from collections.abc import Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.objects.metadata import POOL
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.views import CellView, ClusterView, ShardView, TopoServerView

PREFIX = "multigres_operator"
DESIRED, READY = "desired", "ready"
NOT_YET_REPORTED = "Initializing"


class ClusterFigures(Collector):
    """Registered once; asks the stores at each scrape."""

    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self._clusters = context.store(rules.cluster)
        self._cells = context.store(rules.cell)
        self._shards = context.store(rules.shard)
        self._servers = context.store(rules.topo_server)
        self._stateful_sets = context.store(rules.stateful_set)
        self._deployments = context.store(rules.deployment)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._of_clusters(self._clusters.list())
        yield self._of_gateways(self._cells.list())
        yield self._of_pools(self._shards.list())
        yield self._of_servers(self._servers.list())

    def _of_clusters(self, clusters: Iterable[ClusterView]) -> Iterator[GaugeMetricFamily]:
        info = _gauge(
            "cluster_info", "Always 1; the phase says how the cluster is.", "name", "namespace", "phase"
        )
        cells = _gauge("cluster_cells_total", "Cells of a cluster.", "cluster", "namespace")
        shards = _gauge("cluster_shards_total", "Shards of a cluster.", "cluster", "namespace")
        for cluster in clusters:
            place = [cluster.metadata.name, cluster.metadata.namespace]
            info.add_metric([*place, given(cluster.status.phase, NOT_YET_REPORTED)], 1)
            cells.add_metric(place, len(given(cluster.status.cells, {})))
            databases = given(cluster.status.databases, {}).values()
            shards.add_metric(place, sum(database.total_shards for database in databases))
        yield from (info, cells, shards)

    def _of_gateways(self, cells: Iterable[CellView]) -> GaugeMetricFamily:
        gauge = _gauge("cell_gateway_replicas", "Gateways of a cell.", "cell", "namespace", "state")
        for cell in cells:
            wanted = given(given(cell.spec.multi_gateway, defaults.GATEWAY).replicas, 1)
            # From those who count them: what a status says of progress may be held back.
            owned = self._deployments.by_owner(cell.metadata.uid)
            ready = sum(seen.status.ready_replicas for seen in owned)
            _add(gauge, [cell.metadata.name, cell.metadata.namespace], wanted, ready)
        return gauge

    def _of_pools(self, shards: Iterable[ShardView]) -> GaugeMetricFamily:
        gauge = _gauge(
            "shard_pool_replicas", "Postgres servers of a pool.", "shard", "pool", "namespace", "state"
        )
        for shard in shards:
            for name, pool in given(shard.spec.pools, {}).items():
                wanted = given(pool.replicas_per_cell, 0) * len(given(pool.cells, []))
                place = [shard.metadata.name, name, shard.metadata.namespace]
                _add(gauge, place, wanted, self._ready_servers(shard, name))
        return gauge

    def _ready_servers(self, shard: ShardView, pool: str) -> int:
        owned = self._stateful_sets.by_owner(shard.metadata.uid)
        return sum(seen.status.ready_replicas for seen in owned if seen.metadata.labels.get(POOL) == pool)

    def _of_servers(self, servers: Iterable[TopoServerView]) -> GaugeMetricFamily:
        gauge = _gauge("toposerver_replicas", "Members of a topology server.", "name", "namespace", "state")
        for server in servers:
            key = Key(server.metadata.namespace, server.metadata.name)
            seen = self._stateful_sets.get(key)
            ready = 0 if seen is None else seen.status.ready_replicas
            _add(gauge, [key.name, key.namespace], given(server.spec.replicas, 3), ready)
        return gauge


def _gauge(name: str, documentation: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}_{name}", documentation, labels=labels)


def _add(gauge: GaugeMetricFamily, place: list[str], desired: int, ready: int) -> None:
    gauge.add_metric([*place, DESIRED], desired)
    gauge.add_metric([*place, READY], ready)
