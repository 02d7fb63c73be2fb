from typing import Any

import msgspec

from steward.tenants.status.conditions import merge_conditions, read_conditions
from steward.tenants.status.pause import is_paused, is_reported, pause_condition, paused_status, unpaused
from steward.tenants.views import Tenant

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "DatabaseConnected",
    "message": "",
    "lastTransitionTime": EARLIER,
}
BUSY = {**READY, "type": "Reconciling", "reason": "WaitingForTenants"}


def tenant(name: str, template: str, **spec: Any) -> Tenant:
    metadata = {"name": name, "namespace": "ns", "uid": name}
    return msgspec.convert({"metadata": metadata, "spec": {"templateRef": template, **spec}}, Tenant)


def test_only_true_pauses() -> None:
    assert [is_paused(spec) for spec in ({"paused": True}, {"paused": False}, {})] == [True, False, False]


def test_a_paused_status_keeps_what_was_and_since_when_it_is_paused() -> None:
    first = paused_status({"ready": 3, "conditions": [READY, BUSY]}, 2, EARLIER)
    assert first["ready"] == 3
    assert [each["type"] for each in first["conditions"]] == ["Ready", "Paused"]
    assert is_reported(first)
    assert paused_status(first, 2, LATER) == first


def test_the_next_status_without_a_pause_removes_the_condition() -> None:
    paused = paused_status({"conditions": [READY]}, 2, EARLIER)
    states = [each._replace(type="Ready") for each in (pause_condition(),)]
    merged = merge_conditions(read_conditions(paused), states, 3, LATER)
    assert [each["type"] for each in merged] == ["Ready"]


def test_tenants_that_are_paused_or_of_a_paused_template_are_not_deleted() -> None:
    tenants = [tenant("a", "web"), tenant("b", "web", paused=True), tenant("c", "marker")]
    assert [each.metadata.name for each in unpaused(tenants, frozenset({"marker"}))] == ["a"]
