"""What a registry's status says at any moment."""

from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.controllers.registry.state import recalled
from steward.tenants.fleet.fleet import Counts
from steward.tenants.guard.approval import Hold, HoldReason
from steward.tenants.sources.rows import Rejected
from steward.tenants.status.conditions import conditions_of
from steward.tenants.status.registry import RegistryState, registry_status, warnings
from steward.tenants.validation.template import Problem
from steward.tenants.views import Registry

META = ObjectMeta(name="prod", namespace="shop", uid="r-1", generation=3)
GOOD = RegistryState(
    META, templates=2, active_rows=3, counts=Counts(6, 6, 0), last_sync="2026-01-01T00:00:00Z"
)
NOW = "2026-01-01T00:00:05Z"
LATER = "2026-01-01T01:00:00Z"


def said(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_all_is_well() -> None:
    status = registry_status(GOOD, {}, NOW)
    assert (status["desired"], status["ready"], status["failed"], status["referencingTemplates"]) == (
        6,
        6,
        0,
        2,
    )
    assert said(status) == {
        "Ready": ("True", "DatabaseConnected"),
        "SourceReachable": ("True", "SourceRead"),
        "DeletionHeld": ("False", "NothingHeld"),
    }


def test_while_the_database_is_away_the_last_known_counts_stay() -> None:
    before = registry_status(GOOD, {}, NOW)
    status = registry_status(GOOD._replace(source_problem="mysql: no answer"), before, LATER)
    assert (status["desired"], status["ready"], status["activeRows"]) == (6, 6, 3)
    assert said(status)["SourceReachable"] == ("False", "DatabaseConnectionFailed")
    assert said(status)["Ready"] == ("False", "DatabaseConnectionFailed")
    times = {each["type"]: each["lastTransitionTime"] for each in status["conditions"]}
    assert times == {"Ready": LATER, "SourceReachable": LATER, "DeletionHeld": NOW}


def test_a_read_that_changes_nothing_changes_not_even_the_time() -> None:
    before = registry_status(GOOD, {}, NOW)
    again = registry_status(GOOD._replace(last_sync=LATER), before, LATER)
    assert again == before
    other = registry_status(GOOD._replace(last_sync=LATER, active_rows=4), before, LATER)
    assert other["lastSyncTime"] == LATER


def test_lists_are_bounded_and_rows_are_shown_printable() -> None:
    rejected = tuple(Rejected(f"row{number}\0", "x" * 1000) for number in range(50))
    status = registry_status(GOOD._replace(rejected=rejected, rejected_rows=50), {}, NOW)
    assert status["rejectedRows"] == 50
    assert len(status["rejected"]) == 20
    assert status["rejected"][0] == {"uid": "row0\ufffd", "reason": "x" * 300}


def test_a_held_deletion_is_told_with_its_approval() -> None:
    hold = Hold.of(HoldReason.TOO_MANY, ["a", "b"])
    status = registry_status(GOOD._replace(hold=hold), {}, NOW)
    assert status["heldDeletion"]["approveWith"] == f"2-{hold.digest}"
    assert said(status)["DeletionHeld"] == ("True", "TooManyAtOnce")


def test_a_spec_that_cannot_be_carried_out_stalls() -> None:
    status = registry_status(GOOD._replace(problems=(Problem("spec.source.mysql", "is missing"),)), {}, NOW)
    assert said(status)["Stalled"] == ("True", "InvalidSpec")
    assert "Reconciling" not in said(status)


@pytest.mark.parametrize(
    "state",
    [
        GOOD,
        GOOD._replace(source_problem="mysql: no answer"),
        GOOD._replace(rejected=(Rejected("acme", "twice"),), rejected_rows=1),
        GOOD._replace(hold=Hold.of(HoldReason.EMPTY_RESULT, ["a", "b"])),
    ],
    ids=["well", "unreachable", "rejected", "held"],
)
def test_what_a_status_says_is_said_again_after_a_restart(state: RegistryState) -> None:
    status = registry_status(state, {}, NOW)
    memory = recalled(Registry(META, status=status), None)  # type: ignore[arg-type]
    again = state._replace(
        active_rows=memory.active_rows,
        source_problem=memory.source_problem,
        rejected=memory.rejected,
        rejected_rows=len(memory.rejected),
        hold=memory.guard.hold,
        last_sync=memory.last_sync,
    )
    assert registry_status(again, status, LATER) == status


def test_tenants_of_a_template_that_does_not_exist_are_told_with_its_name_and_their_number() -> None:
    state = GOOD._replace(waiting={"web-app": 3, "api": 1})
    status = registry_status(state, {}, NOW)
    (told,) = (each for each in status["conditions"] if each["type"] == "Degraded")
    assert (told["status"], told["reason"]) == ("True", "TemplateMissing")
    assert "api (1), web-app (3)" in told["message"]
    assert "Degraded" not in said(registry_status(GOOD, status, LATER))


def test_missing_templates_are_listed_up_to_a_limit() -> None:
    state = GOOD._replace(waiting={f"t{number}": 1 for number in range(9)})
    (told,) = (each for each in registry_status(state, {}, NOW)["conditions"] if each["type"] == "Degraded")
    assert "t4 (1) and 4 more" in told["message"]


def test_warnings_are_given_once() -> None:
    state = GOOD._replace(source_problem="mysql: no answer", waiting={"web-app": 3})
    assert [reason for reason, _ in warnings(state, ())] == ["DatabaseQueryFailed", "TemplateMissing"]
    assert warnings(state, conditions_of(registry_status(state, {}, NOW))) == []
    assert warnings(GOOD, ()) == []
