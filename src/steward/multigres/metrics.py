"""Metrics of clusters, read from the caches at each scrape, and of deletions, counted by the controllers.

The cluster metrics keep no counters, so none can go stale: a series ends with its object, and an old phase with the
phase. Every replica has the caches and exposes the same values: alert rules take the maximum over replicas.
"""

from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from steward.kube.cache.store import Store
from steward.kube.objects.conditions import find_condition
from steward.kube.objects.kinds import Key
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres.api.scalars import UNSET, Unset
from steward.multigres.api.shard import ShardBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import POOL_LABEL
from steward.multigres.resolution import defaults
from steward.multigres.status.conditions import read_conditions
from steward.multigres.status.pause import paused_since
from steward.multigres.template_updates.objects_version import OPERATOR_UPDATE
from steward.multigres.views import (
    CellView,
    ClusterView,
    ShardView,
    StatefulSetView,
    TopoServerView,
    WorkloadView,
)

PREFIX = "multigres_operator"
DESIRED, READY = "desired", "ready"
NOT_YET_REPORTED = "Initializing"
SHARD_CONDITIONS = frozenset({"Ready", "Available", "ServersReady", "BackupHealthy"})
SHUTDOWN_BUCKETS = (1, 5, 10, 30, 60, 120, 300)


class MetricStores(NamedTuple):
    clusters: Store[ClusterView]
    cells: Store[CellView]
    shards: Store[ShardView]
    topo_servers: Store[TopoServerView]
    stateful_sets: Store[StatefulSetView]
    deployments: Store[WorkloadView]


class ClusterMetrics(Collector):
    """Registered once; reads the stores at each scrape."""

    def __init__(self, stores: MetricStores) -> None:
        self._stores = stores

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from self._cluster_gauges(self._stores.clusters.list())
        yield self._update_gauge(self._stores.clusters.list())
        yield _pause_gauge(self._stores.clusters.list())
        yield self._gateway_gauge(self._stores.cells.list())
        yield self._pool_gauge(self._stores.shards.list())
        yield _condition_gauge(self._stores.shards.list())
        yield _server_gauge(self._stores.shards.list())
        yield _last_backup_gauge(self._stores.shards.list())
        yield _last_backup_size_gauge(self._stores.shards.list())
        yield _repository_size_gauge(self._stores.shards.list())
        yield _certificate_gauge(self._stores.shards.list())
        yield _gateway_certificate_gauge(self._stores.clusters.list())
        yield self._topo_server_gauge(self._stores.topo_servers.list())

    def _cluster_gauges(self, clusters: Iterable[ClusterView]) -> Iterator[GaugeMetricFamily]:
        info = _gauge(
            "cluster_info",
            "Always 1; the label phase is the phase of the cluster.",
            "name",
            "namespace",
            "phase",
        )
        cells = _gauge("cluster_cells_total", "Cells of a cluster.", "cluster", "namespace")
        shards = _gauge("cluster_shards_total", "Shards of a cluster.", "cluster", "namespace")
        for cluster in clusters:
            labels = [cluster.metadata.name, cluster.metadata.namespace]
            info.add_metric([*labels, or_default(cluster.status.phase, NOT_YET_REPORTED)], 1)
            cells.add_metric(labels, len(or_default(cluster.status.cells, {})))
            databases = or_default(cluster.status.databases, {}).values()
            shards.add_metric(labels, sum(database.total_shards for database in databases))
        yield from (info, cells, shards)

    def _update_gauge(self, clusters: Iterable[ClusterView]) -> GaugeMetricFamily:
        gauge = _gauge(
            "cluster_operator_update",
            "Always 1, for clusters whose pods do not match this version of the operator; reason says why.",
            "cluster",
            "namespace",
            "reason",
        )
        for cluster in clusters:
            found = find_condition(read_conditions(cluster.status.conditions), OPERATOR_UPDATE)
            if found is not None:
                gauge.add_metric([cluster.metadata.name, cluster.metadata.namespace, found.reason], 1)
        return gauge

    def _gateway_gauge(self, cells: Iterable[CellView]) -> GaugeMetricFamily:
        gauge = _gauge("cell_gateway_replicas", "Gateways of a cell.", "cell", "namespace", "state")
        for cell in cells:
            desired = or_default(or_default(cell.spec.multi_gateway, defaults.GATEWAY).replicas, 1)
            # From the Deployment, not from the Cell's status: progress in a status may be throttled.
            owned = self._stores.deployments.by_owner(cell.metadata.uid)
            ready = sum(live.status.ready_replicas for live in owned)
            _add(gauge, [cell.metadata.name, cell.metadata.namespace], desired, ready)
        return gauge

    def _pool_gauge(self, shards: Iterable[ShardView]) -> GaugeMetricFamily:
        gauge = _gauge(
            "shard_pool_replicas", "Postgres servers of a pool.", "shard", "pool", "namespace", "state"
        )
        for shard in shards:
            for name, pool in or_default(shard.spec.pools, {}).items():
                desired = or_default(pool.replicas_per_cell, 0) * len(or_default(pool.cells, []))
                labels = [shard.metadata.name, name, shard.metadata.namespace]
                _add(gauge, labels, desired, self._ready_servers(shard, name))
        return gauge

    def _ready_servers(self, shard: ShardView, pool: str) -> int:
        owned = self._stores.stateful_sets.by_owner(shard.metadata.uid)
        return sum(
            live.status.ready_replicas for live in owned if live.metadata.labels.get(POOL_LABEL) == pool
        )

    def _topo_server_gauge(self, servers: Iterable[TopoServerView]) -> GaugeMetricFamily:
        gauge = _gauge("toposerver_replicas", "Members of a topology server.", "name", "namespace", "state")
        for server in servers:
            key = Key(server.metadata.namespace, server.metadata.name)
            live = self._stores.stateful_sets.get(key)
            ready = 0 if live is None else live.status.ready_replicas
            _add(gauge, [key.name, key.namespace], or_default(server.spec.replicas, 3), ready)
        return gauge


def _pause_gauge(clusters: Iterable[ClusterView]) -> GaugeMetricFamily:
    gauge = _gauge(
        "cluster_paused_since_seconds",
        "Unix time at which a paused cluster was paused.",
        "cluster",
        "namespace",
    )
    for cluster in clusters:
        if since := paused_since(cluster):
            gauge.add_metric([cluster.metadata.name, cluster.metadata.namespace], from_timestamp(since))
    return gauge


def _condition_gauge(shards: Iterable[ShardView]) -> GaugeMetricFamily:
    gauge = _gauge(
        "shard_condition",
        "Always 1; the labels are a condition of a shard.",
        "shard",
        "namespace",
        "type",
        "status",
        "reason",
    )
    for shard in shards:
        for condition in or_default(shard.status.conditions, []):
            if condition.type in SHARD_CONDITIONS:
                labels = [condition.type, condition.status, condition.reason]
                gauge.add_metric([shard.metadata.name, shard.metadata.namespace, *labels], 1)
    return gauge


def _server_gauge(shards: Iterable[ShardView]) -> GaugeMetricFamily:
    gauge = _gauge("shard_servers", "Postgres servers of a shard by state.", "shard", "namespace", "state")
    for shard in shards:
        states = Counts(server.state for server in or_default(shard.status.servers, []))
        for state, count in states.items():
            gauge.add_metric([shard.metadata.name, shard.metadata.namespace, state], count)
    return gauge


def _last_backup_gauge(shards: Iterable[ShardView]) -> GaugeMetricFamily:
    gauge = _gauge(
        "shard_last_backup_timestamp_seconds",
        "When the newest complete backup of a shard was complete.",
        "shard",
        "namespace",
    )
    for shard in shards:
        last = or_default(shard.status.backup, ShardBackupStatus()).last_backup_at
        if last is not UNSET:
            gauge.add_metric([shard.metadata.name, shard.metadata.namespace], from_timestamp(last))
    return gauge


def _last_backup_size_gauge(shards: Iterable[ShardView]) -> GaugeMetricFamily:
    text = "Size of the data that the newest complete backup of a shard restores."
    return _backup_gauge("shard_last_backup_bytes", text, shards, lambda backup: backup.last_backup_bytes)


def _repository_size_gauge(shards: Iterable[ShardView]) -> GaugeMetricFamily:
    text = "Size of all backups of a shard in its repository, without WAL."
    return _backup_gauge("shard_repository_bytes", text, shards, lambda backup: backup.repository_bytes)


def _backup_gauge(
    name: str, text: str, shards: Iterable[ShardView], size: Callable[[ShardBackupStatus], int | Unset]
) -> GaugeMetricFamily:
    gauge = _gauge(name, text, "shard", "namespace")
    for shard in shards:
        found = size(or_default(shard.status.backup, ShardBackupStatus()))
        if found is not UNSET:
            gauge.add_metric([shard.metadata.name, shard.metadata.namespace], found)
    return gauge


def _certificate_gauge(shards: Iterable[ShardView]) -> GaugeMetricFamily:
    gauge = _gauge(
        "shard_certificate_expiry_timestamp_seconds",
        "When the certificate of a shard's backup service ends.",
        "shard",
        "namespace",
    )
    for shard in shards:
        expiry = shard.status.backup_certificate_expiry
        if expiry is not UNSET:
            gauge.add_metric([shard.metadata.name, shard.metadata.namespace], from_timestamp(expiry))
    return gauge


def _gateway_certificate_gauge(clusters: Iterable[ClusterView]) -> GaugeMetricFamily:
    gauge = _gauge(
        "cluster_gateway_certificate_expiry_timestamp_seconds",
        "When the certificate of a cluster's gateways ends.",
        "name",
        "namespace",
    )
    for cluster in clusters:
        expiry = cluster.status.gateway_certificate_expiry
        if expiry is not UNSET:
            gauge.add_metric([cluster.metadata.name, cluster.metadata.namespace], from_timestamp(expiry))
    return gauge


def _gauge(name: str, documentation: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}_{name}", documentation, labels=labels)


def _add(gauge: GaugeMetricFamily, labels: list[str], desired: int, ready: int) -> None:
    gauge.add_metric([*labels, DESIRED], desired)
    gauge.add_metric([*labels, READY], ready)


class DeletionMetrics:
    """How often a deletion waited for dependents, and how long graceful shutdowns take."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._blocked = Counter(
            "multigres_deletion_blocked_total",
            "Number of times deletion was blocked due to dependencies",
            ("kind", "namespace"),
            registry=registry,
        )
        self._seconds = Histogram(
            "multigres_graceful_shutdown_duration_seconds",
            "Time taken for graceful shutdown before finalizer removal",
            ("kind",),
            buckets=SHUTDOWN_BUCKETS,
            registry=registry,
        )

    def count_blocked(self, kind: str, namespace: str) -> None:
        self._blocked.labels(kind, namespace).inc()

    def observe_shutdown(self, kind: str, seconds: float) -> None:
        self._seconds.labels(kind).observe(seconds)


class GrowthMetrics:
    """How often the operator let the volumes of a pool grow because one was full."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._growths = Counter(
            "multigres_operator_volume_growths_total",
            "Times that the volumes of a pool grew because one of them filled up.",
            ("namespace",),
            registry=registry,
        )

    def count(self, namespace: str) -> None:
        self._growths.labels(namespace).inc()


class SwitchMetrics:
    """How often the operator asked for a switch of a primary, and with which result."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._switches = Counter(
            "multigres_operator_primary_switches_total",
            "Switches of a primary that the operator requested, by result: done or refused.",
            ("namespace", "result"),
            registry=registry,
        )

    def count(self, namespace: str, error: str) -> None:
        self._switches.labels(namespace, "refused" if error else "done").inc()
