"""The metrics of the tenants operator, under the names that existing dashboards use.

Gauges are derived from the caches at each scrape: no series is stored, so a series ends with its object and a fleet of
thousands costs nothing between two scrapes. Only what no cache holds (how often, how long) is counted, and counters of
a Tenant are dropped with the Tenant.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from steward.kube.cache.store import Store
from steward.kube.objects.conditions import FALSE, TRUE, find_condition
from steward.kube.objects.kinds import Key
from steward.tenants.fleet_metrics import registry_gauges
from steward.tenants.status.tenant import DEGRADED
from steward.tenants.views import Registry, Tenant

SUCCESS: Final = "success"
PARTIAL_FAILURE: Final = "partial_failure"
ERROR: Final = "error"
DURATIONS: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_TENANT: Final = ("tenant", "namespace")


class TenantMetrics:
    """Counters and the histogram of reconciles: what no cache holds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        duration = Histogram(
            "tenant_reconcile_duration_seconds",
            "Duration of a reconcile of a Tenant.",
            ("result",),
            buckets=DURATIONS,
            registry=registry,
        )
        self._durations = {result: duration.labels(result) for result in (SUCCESS, PARTIAL_FAILURE, ERROR)}
        self.attempts: Counter[tuple[str, str, str]] = Counter()
        self.conflicts: dict[Key, Counter[tuple[str, str]]] = {}

    def count_attempt(self, kind: str, result: str, conflict_policy: str) -> None:
        self.attempts[(kind, result, conflict_policy)] += 1

    def count_conflict(self, tenant: Key, kind: str, conflict_policy: str) -> None:
        self.conflicts.setdefault(tenant, Counter())[(kind, conflict_policy)] += 1

    def observe_reconcile(self, result: str, seconds: float) -> None:
        self._durations[result].observe(seconds)

    def forget(self, tenant: Key) -> None:
        self.conflicts.pop(tenant, None)


class ListsTenants(Protocol):
    """A store of Tenants, or the part of it that this process applies."""

    def list(self) -> list[Tenant]: ...


class MetricsSource(Protocol):
    """The stores and counters that the collector reads."""

    @property
    def tenants(self) -> ListsTenants: ...

    @property
    def registries(self) -> Store[Registry]: ...

    @property
    def metrics(self) -> TenantMetrics: ...


class TenantsCollector(Collector):
    def __init__(self, source: MetricsSource) -> None:
        self._source = source

    def collect(self) -> Iterator[Metric]:
        tenants = self._source.tenants.list()
        yield from _tenant_gauges(tenants)
        yield _conditions(tenants)
        yield _degraded(tenants)
        yield from registry_gauges(self._source.registries.list())
        yield _conflicts(self._source.metrics)
        yield _attempts(self._source.metrics)


def _tenant_gauges(tenants: Iterable[Tenant]) -> Iterator[Metric]:
    fields = {
        "ready": ("Objects that are ready.", "ready_resources"),
        "desired": ("Objects that are desired.", "desired_resources"),
        "failed": ("Objects that have failed.", "failed_resources"),
        "conflicted": (
            "Objects that are foreign, or have foreign fields.",
            "conflicted_resources",
        ),
    }
    for name, (documentation, field) in fields.items():
        family = GaugeMetricFamily(f"tenant_resources_{name}", documentation, labels=_TENANT)
        for tenant in tenants:
            family.add_metric(_labels(tenant), getattr(tenant.status, field))
        yield family


def _labels(live: Tenant) -> tuple[str, str]:
    return live.metadata.name, live.metadata.namespace


def _conditions(tenants: Iterable[Tenant]) -> Metric:
    family = GaugeMetricFamily(
        "tenant_condition_status", "0 is False, 1 is True, 2 is Unknown.", labels=(*_TENANT, "type")
    )
    for tenant in tenants:
        for condition in tenant.status.conditions:
            family.add_metric((*_labels(tenant), condition.type), condition_value(condition.status))
    return family


def condition_value(status: str) -> int:
    return {FALSE: 0, TRUE: 1}.get(status, 2)


def _degraded(tenants: Iterable[Tenant]) -> Metric:
    """One series for each Tenant, with its current reason: a former reason leaves no series behind."""
    family = GaugeMetricFamily("tenant_degraded_status", "1 is degraded.", labels=(*_TENANT, "reason"))
    for tenant in tenants:
        found = find_condition(tenant.status.conditions, DEGRADED)
        if found is not None:
            family.add_metric((*_labels(tenant), found.reason), condition_value(found.status))
    return family


def _conflicts(metrics: TenantMetrics) -> Metric:
    labels = (*_TENANT, "resource_kind", "conflict_policy")
    family = CounterMetricFamily("tenant_conflicts", "Conflicts with other owners.", labels=labels)
    for key, found in metrics.conflicts.items():
        for (kind, policy), number in found.items():
            family.add_metric((key.name, key.namespace, kind, policy), number)
    return family


def _attempts(metrics: TenantMetrics) -> Metric:
    labels = ("kind", "result", "conflict_policy")
    family = CounterMetricFamily("apply_attempts", "Objects that were applied.", labels=labels)
    for found, number in metrics.attempts.items():
        family.add_metric(found, number)
    return family
