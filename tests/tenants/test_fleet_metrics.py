"""The gauges of registries and templates, collected from stores as by a scrape."""

import json
from typing import Any

import pytest
from prometheus_client.core import Metric

from steward.kube.cache.store import Store
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import FleetScope, TenantsCacheRules
from steward.tenants.fleet_metrics import TemplatesCollector, registry_gauges
from steward.tenants.guard.approval import DeletionHold, HoldReason
from steward.tenants.status.registry import RegistryObservation, registry_status
from steward.tenants.status.template import TemplateObservation, template_status

NOW = "2026-01-01T00:00:00Z"
HOLD = DeletionHold.for_tenants(HoldReason.TOO_MANY, ["a", "b"])
RULES = TenantsCacheRules(FleetScope())


def samples(families: list[Metric]) -> dict[str, float]:
    """By name; every sample is of the one object."""
    found = {sample.name: sample for family in families for sample in family.samples}
    assert {tuple(sample.labels.values()) for sample in found.values()} <= {("prod", "saas"), ("web", "saas")}
    return {name: sample.value for name, sample in found.items()}


def store(rule: Any, name: str, status: dict[str, Any]) -> Store[Any]:
    found: Store[Any] = Store(rule)
    metadata = {"name": name, "namespace": "saas", "uid": name, "resourceVersion": "1"}
    whole = {"apiVersion": rule.kind.api_version, "kind": rule.kind.kind, "metadata": metadata}
    found.observe_write(json.dumps({**whole, "status": status}).encode())
    return found


def registry(status: dict[str, Any]) -> dict[str, float]:
    return samples(list(registry_gauges(store(RULES.registry, "prod", status).list())))


def template(status: dict[str, Any]) -> dict[str, float]:
    return samples(list(TemplatesCollector(store(RULES.template, "web", status)).collect()))


REGISTRY = RegistryObservation(ObjectMeta(name="prod"), last_sync=NOW, active_rows=2)
TEMPLATE = TemplateObservation(ObjectMeta(name="web"))


def registry_samples(state: RegistryObservation) -> dict[str, float]:
    return registry(registry_status(state, {}, NOW))


def template_samples(state: TemplateObservation) -> dict[str, float]:
    return template(template_status(state, {}, NOW))


@pytest.mark.parametrize(
    ("state", "reachable"),
    [
        (REGISTRY, 1),
        (REGISTRY._replace(source_problem="no route"), 0),
        (REGISTRY._replace(source_problem="no route", last_sync=""), 0),
        (REGISTRY._replace(last_sync=""), None),
    ],
)
def test_a_table_that_cannot_be_read_is_reported(state: RegistryObservation, reachable: int | None) -> None:
    assert registry_samples(state).get("registry_source_reachable") == reachable


def test_rejected_rows_are_counted_beyond_those_that_the_status_lists() -> None:
    assert registry_samples(REGISTRY._replace(rejected_rows=50))["registry_rejected_rows"] == 50


@pytest.mark.parametrize(("hold", "number"), [(HOLD, 1), (None, 0)])
def test_held_deletions_are_reported(hold: DeletionHold | None, number: int) -> None:
    assert registry_samples(REGISTRY._replace(hold=hold))["deletion_held"] == number
    assert template_samples(TEMPLATE._replace(hold=hold))["template_deletion_held"] == number


@pytest.mark.parametrize(("phase", "failed"), [("InProgress", 0), ("Failed", 1), ("Complete", 0)])
def test_a_rollout_is_reported_with_its_progress_while_it_goes_on(phase: Any, failed: int) -> None:
    rollout = RolloutStatus(phase=phase, updating_nodes=3, last_progress_time=NOW)
    found = template_samples(TEMPLATE._replace(rollout=rollout))
    assert found["template_rollout_failed"] == failed
    assert found["template_rollout_updating"] == 3
    progress = from_timestamp(NOW) if phase == "InProgress" else None
    assert found.get("template_rollout_last_progress_timestamp_seconds") == progress


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"rollout": "x", "conditions": "x"},
        {"conditions": [{"type": 1}]},
        {"rollout": {"phase": "InProgress", "lastProgressTime": "yesterday", "updatingNodes": 1}},
    ],
)
def test_a_status_that_another_program_wrote_breaks_no_scrape(status: dict[str, Any]) -> None:
    assert registry(status)["deletion_held"] == 0
    assert template(status)["template_rollout_failed"] == 0
