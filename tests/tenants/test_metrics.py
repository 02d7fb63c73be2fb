"""What the operator shows of Tenants and registries, read from stores as a scrape would."""

import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.cache_rules import Rules
from steward.tenants.metrics import Counts, TenantsCollector

OF_THE_SEED = {
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


class Fleet:
    """As much of the operator as figures stand on."""

    def __init__(self, registry: CollectorRegistry) -> None:
        rules = Rules()
        self.tenants = Store(rules.tenant)
        self.registries = Store(rules.registry)
        self.counts = Counts(registry)

    def put(self, store: Store[Any], name: str, status: dict[str, Any], version: int = 1) -> None:
        kind = store.kind
        metadata = {"name": name, "namespace": "saas", "uid": name, "resourceVersion": str(version)}
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "status": status}
        store.observe(json.dumps(whole).encode())


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


def test_the_twelve_metrics_have_the_names_and_labels_that_dashboards_know(
    fleet: Fleet, registry: CollectorRegistry
) -> None:
    counts = {f"{name}Resources": 1 for name in ("ready", "desired", "failed", "conflicted")}
    fleet.put(fleet.tenants, "acme", counts | degraded("ResourceFailures"))
    fleet.put(fleet.registries, "prod", {"desired": 1, "ready": 1, "failed": 0})
    fleet.counts.attempted("ConfigMap", "success", "Stuck")
    fleet.counts.conflicted(Key("saas", "acme"), "ConfigMap", "Stuck")
    fleet.counts.took("success", 0.2)
    served = {
        family.name: {tuple(label for label in sample.labels if label != "le") for sample in family.samples}
        for family in registry.collect()
    }
    assert served.keys() == OF_THE_SEED.keys() | {"deletion_held"}
    assert {name: served[name] for name in OF_THE_SEED} == {
        name: {labels} for name, labels in OF_THE_SEED.items()
    }


def test_a_reason_that_no_longer_holds_leaves_no_series(fleet: Fleet, registry: CollectorRegistry) -> None:
    fleet.put(fleet.tenants, "acme", degraded("ResourceFailures"))
    assert value(registry, "tenant_degraded_status", tenant="acme", reason="ResourceFailures") == 1
    fleet.put(fleet.tenants, "acme", degraded("Healthy", "False"), version=2)
    assert value(registry, "tenant_degraded_status", tenant="acme", reason="ResourceFailures") is None
    assert value(registry, "tenant_degraded_status", tenant="acme", reason="Healthy") == 0


def test_the_series_of_a_tenant_end_with_it(fleet: Fleet, registry: CollectorRegistry) -> None:
    fleet.put(fleet.tenants, "acme", {"readyResources": 3})
    fleet.counts.conflicted(Key("saas", "acme"), "ConfigMap", "Stuck")
    assert value(registry, "tenant_resources_ready", tenant="acme") == 3
    fleet.tenants.forget(Key("saas", "acme"), "acme")
    fleet.counts.forget(Key("saas", "acme"))
    assert not [
        sample
        for family in registry.collect()
        for sample in family.samples
        if sample.labels.get("tenant") == "acme"
    ]


@pytest.mark.parametrize(("status", "number"), [("False", 0), ("True", 1), ("Unknown", 2)])
def test_a_condition_is_a_number(fleet: Fleet, registry: CollectorRegistry, status: str, number: int) -> None:
    fleet.put(fleet.tenants, "acme", {"conditions": [{"type": "Ready", "status": status}]})
    assert value(registry, "tenant_condition_status", tenant="acme", type="Ready") == number


@pytest.mark.parametrize(("status", "number"), [("False", 0), ("True", 1)])
def test_deletions_that_are_held_show(
    fleet: Fleet, registry: CollectorRegistry, status: str, number: int
) -> None:
    fleet.put(fleet.registries, "prod", {"conditions": [{"type": "DeletionHeld", "status": status}]})
    assert value(registry, "deletion_held", registry="prod") == number
