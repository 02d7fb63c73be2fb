"""The status of a registry."""

from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.controllers.registry.state import restore_state
from steward.tenants.fleet.fleet import TenantCounts
from steward.tenants.guard.approval import DeletionHold, HoldReason
from steward.tenants.sources.rows import RowRejection
from steward.tenants.status.conditions import read_conditions
from steward.tenants.status.registry import RegistryObservation, registry_status, warning_events
from steward.tenants.validation.problems import Problem
from steward.tenants.views import Registry

META = ObjectMeta(name="prod", namespace="shop", uid="r-1", generation=3)
GOOD = RegistryObservation(
    META,
    templates=2,
    active_rows=3,
    inactive_rows=1,
    counts=TenantCounts(6, 6, 0),
    last_sync="2026-01-01T00:00:00Z",
    last_duration="0.04s",
)
NOW = "2026-01-01T00:00:05Z"
LATER = "2026-01-01T01:00:00Z"


def conditions_of(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_a_registry_without_problems_is_ready() -> None:
    status = registry_status(GOOD, {}, NOW)
    assert (status["desired"], status["ready"], status["failed"], status["referencingTemplates"]) == (
        6,
        6,
        0,
        2,
    )
    assert conditions_of(status) == {
        "Ready": ("True", "DatabaseConnected"),
        "SourceReachable": ("True", "SourceRead"),
        "DeletionHeld": ("False", "NothingHeld"),
    }


def test_a_request_for_a_sync_is_answered_by_its_value_and_a_new_time() -> None:
    previous = registry_status(GOOD, {}, NOW)
    answered = GOOD._replace(last_request="now please", last_sync=LATER)
    status = registry_status(answered, previous, LATER)
    assert (status["lastSyncRequest"], status["lastSyncTime"]) == ("now please", LATER)


def test_while_the_database_is_unreachable_the_counts_of_the_last_read_stay() -> None:
    previous = registry_status(GOOD, {}, NOW)
    status = registry_status(GOOD._replace(source_problem="mysql: no answer"), previous, LATER)
    assert (status["desired"], status["ready"], status["activeRows"]) == (6, 6, 3)
    assert conditions_of(status)["SourceReachable"] == ("False", "DatabaseConnectionFailed")
    assert conditions_of(status)["Ready"] == ("False", "DatabaseConnectionFailed")
    times = {each["type"]: each["lastTransitionTime"] for each in status["conditions"]}
    assert times == {"Ready": LATER, "SourceReachable": LATER, "DeletionHeld": NOW}


def test_a_read_without_changes_does_not_change_the_time() -> None:
    previous = registry_status(GOOD, {}, NOW)
    later = GOOD._replace(last_sync=LATER, last_duration="0.09s")
    assert registry_status(later, previous, LATER) == previous
    other = registry_status(later._replace(inactive_rows=2), previous, LATER)
    assert (other["lastSyncTime"], other["lastSyncDuration"], other["inactiveRows"]) == (LATER, "0.09s", 2)


def test_lists_are_bounded_and_rows_are_shown_printable() -> None:
    rejected = tuple(RowRejection(f"row{number}\0", "x" * 1000) for number in range(50))
    status = registry_status(GOOD._replace(rejected=rejected, rejected_rows=50), {}, NOW)
    assert status["rejectedRows"] == 50
    assert len(status["rejected"]) == 20
    assert status["rejected"][0] == {"uid": "row0\ufffd", "reason": "x" * 300}


def test_a_held_deletion_is_reported_with_its_approval() -> None:
    hold = DeletionHold.for_tenants(HoldReason.TOO_MANY, ["a", "b"])
    status = registry_status(GOOD._replace(hold=hold), {}, NOW)
    assert status["heldDeletion"]["approveWith"] == f"2-{hold.digest}"
    assert conditions_of(status)["DeletionHeld"] == ("True", "TooManyAtOnce")


def test_an_invalid_spec_stalls() -> None:
    status = registry_status(GOOD._replace(problems=(Problem("spec.source.mysql", "is missing"),)), {}, NOW)
    assert conditions_of(status)["Stalled"] == ("True", "InvalidSpec")
    assert "Reconciling" not in conditions_of(status)


@pytest.mark.parametrize(
    "state",
    [
        GOOD,
        GOOD._replace(source_problem="mysql: no answer"),
        GOOD._replace(rejected=(RowRejection("acme", "twice"),), rejected_rows=1),
        GOOD._replace(hold=DeletionHold.for_tenants(HoldReason.EMPTY_RESULT, ["a", "b"])),
    ],
    ids=["well", "unreachable", "rejected", "held"],
)
def test_the_status_is_the_same_after_a_restart(state: RegistryObservation) -> None:
    status = registry_status(state, {}, NOW)
    restored = restore_state(Registry(META, status=status), None)  # type: ignore[arg-type]
    again = state._replace(
        active_rows=restored.active_rows,
        inactive_rows=restored.inactive_rows,
        source_problem=restored.source_problem,
        rejected=restored.rejected,
        rejected_rows=len(restored.rejected),
        hold=restored.guard.hold,
        last_sync=restored.last_sync,
        last_duration=restored.last_duration,
    )
    assert registry_status(again, status, LATER) == status


def test_tenants_of_a_missing_template_are_counted_in_the_degraded_condition() -> None:
    state = GOOD._replace(tenants_without_template={"web-app": 3, "api": 1})
    status = registry_status(state, {}, NOW)
    (degraded,) = (each for each in status["conditions"] if each["type"] == "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "TemplateMissing")
    assert "api (1), web-app (3)" in degraded["message"]
    assert "Degraded" not in conditions_of(registry_status(GOOD, status, LATER))


def test_missing_templates_are_listed_up_to_a_limit() -> None:
    state = GOOD._replace(tenants_without_template={f"t{number}": 1 for number in range(9)})
    (degraded,) = (
        each for each in registry_status(state, {}, NOW)["conditions"] if each["type"] == "Degraded"
    )
    assert "t4 (1) and 4 more" in degraded["message"]


def test_a_warning_is_emitted_once() -> None:
    state = GOOD._replace(source_problem="mysql: no answer", tenants_without_template={"web-app": 3})
    assert [reason for reason, _ in warning_events(state, ())] == ["DatabaseQueryFailed", "TemplateMissing"]
    assert warning_events(state, read_conditions(registry_status(state, {}, NOW))) == []
    assert warning_events(GOOD, ()) == []
