"""The metrics of Tenants and registries, collected from stores as by a scrape."""

import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.cache_rules import FleetScope, TenantsCacheRules
from steward.tenants.metrics import TenantMetrics, TenantsCollector

METRICS_OF_THE_GO_OPERATOR = {
    "tenant_reconcile_duration_seconds": ("result",),
    "tenant_resources_ready": ("tenant", "namespace"),
    "tenant_resources_desired": ("tenant", "namespace"),
    "tenant_resources_failed": ("tenant", "namespace"),
    "tenant_condition_status": ("tenant", "namespace", "type"),
    "tenant_conflicts": ("tenant", "namespace", "resource_kind", "conflict_policy"),
    "tenant_resources_conflicted": ("tenant", "namespace"),
    "tenant_degraded_status": ("tenant", "namespace", "reason"),
    "registry_desired": ("registry", "namespace"),
    "registry_ready": ("registry", "namespace"),
    "registry_failed": ("registry", "namespace"),
    "apply_attempts": ("kind", "result", "conflict_policy"),
}
OWN_METRICS = {
    "deletion_held",
    "registry_paused_since_seconds",
    "registry_rejected_rows",
    "registry_source_reachable",
}


class Fleet:
    """The stores and counters that the collector reads."""

    def __init__(self, registry: CollectorRegistry) -> None:
        rules = TenantsCacheRules(FleetScope())
        self.tenants = Store(rules.tenant)
        self.registries = Store(rules.registry)
        self.metrics = TenantMetrics(registry)

    def observe(self, store: Store[Any], name: str, status: dict[str, Any], version: int = 1) -> None:
        kind = store.kind
        metadata = {"name": name, "namespace": "saas", "uid": name, "resourceVersion": str(version)}
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "status": status}
        store.observe_write(json.dumps(whole).encode())


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def fleet(registry: CollectorRegistry) -> Fleet:
    fleet = Fleet(registry)
    registry.register(TenantsCollector(fleet))
    return fleet


def degraded(reason: str, status: str = "True") -> dict[str, Any]:
    return {"conditions": [{"type": "Degraded", "status": status, "reason": reason}]}


def value(registry: CollectorRegistry, name: str, /, **labels: str) -> float | None:
    return registry.get_sample_value(name, {"namespace": "saas", **labels})


def test_the_twelve_metrics_have_the_names_and_labels_that_dashboards_use(
    fleet: Fleet, registry: CollectorRegistry
) -> None:
    counts = {f"{name}Resources": 1 for name in ("ready", "desired", "failed", "conflicted")}
    fleet.observe(fleet.tenants, "acme", counts | degraded("ResourceFailures"))
    fleet.observe(fleet.registries, "prod", {"desired": 1, "ready": 1, "failed": 0})
    fleet.metrics.count_attempt("ConfigMap", "success", "Stuck")
    fleet.metrics.count_conflict(Key("saas", "acme"), "ConfigMap", "Stuck")
    fleet.metrics.observe_reconcile("success", 0.2)
    served = {
        family.name: {tuple(label for label in sample.labels if label != "le") for sample in family.samples}
        for family in registry.collect()
    }
    assert served.keys() == METRICS_OF_THE_GO_OPERATOR.keys() | OWN_METRICS
    assert {name: served[name] for name in METRICS_OF_THE_GO_OPERATOR} == {
        name: {labels} for name, labels in METRICS_OF_THE_GO_OPERATOR.items()
    }


def test_a_reason_that_no_longer_holds_leaves_no_series(fleet: Fleet, registry: CollectorRegistry) -> None:
    fleet.observe(fleet.tenants, "acme", degraded("ResourceFailures"))
    assert value(registry, "tenant_degraded_status", tenant="acme", reason="ResourceFailures") == 1
    fleet.observe(fleet.tenants, "acme", degraded("Healthy", "False"), version=2)
    assert value(registry, "tenant_degraded_status", tenant="acme", reason="ResourceFailures") is None
    assert value(registry, "tenant_degraded_status", tenant="acme", reason="Healthy") == 0


def test_the_series_of_a_tenant_end_with_it(fleet: Fleet, registry: CollectorRegistry) -> None:
    fleet.observe(fleet.tenants, "acme", {"readyResources": 3})
    fleet.metrics.count_conflict(Key("saas", "acme"), "ConfigMap", "Stuck")
    assert value(registry, "tenant_resources_ready", tenant="acme") == 3
    fleet.tenants.observe_delete(Key("saas", "acme"), "acme")
    fleet.metrics.forget(Key("saas", "acme"))
    assert not [
        sample
        for family in registry.collect()
        for sample in family.samples
        if sample.labels.get("tenant") == "acme"
    ]


@pytest.mark.parametrize(("status", "number"), [("False", 0), ("True", 1), ("Unknown", 2)])
def test_a_condition_is_a_number(fleet: Fleet, registry: CollectorRegistry, status: str, number: int) -> None:
    fleet.observe(fleet.tenants, "acme", {"conditions": [{"type": "Ready", "status": status}]})
    assert value(registry, "tenant_condition_status", tenant="acme", type="Ready") == number
