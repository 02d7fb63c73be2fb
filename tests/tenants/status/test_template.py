"""The status of a template."""

from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.template import RolloutStatus
from steward.tenants.fleet.fleet import TenantCounts
from steward.tenants.guard.approval import DeletionHold, HoldReason
from steward.tenants.status.template import TemplateObservation, template_status
from steward.tenants.validation.problems import Problem

NOW = "2026-01-01T00:00:00Z"
GOOD = TemplateObservation(
    ObjectMeta(name="web-app", generation=4), active_generation=4, counts=TenantCounts(3, 3, 0)
)
WRONG = Problem("spec.configMaps[a].nameTemplate", 'function "uper" not defined', 1, 8)
FAILED = RolloutStatus(phase="Failed", target_generation=4, message="none became ready")


def conditions_of(state: TemplateObservation) -> dict[str, tuple[str, str]]:
    return {
        each["type"]: (each["status"], each["reason"])
        for each in template_status(state, {}, NOW)["conditions"]
    }


@pytest.mark.parametrize(
    ("state", "type_", "expected"),
    [
        (GOOD, "Valid", ("True", "ValidationPassed")),
        (GOOD, "Applied", ("True", "AllTenantsReady")),
        (GOOD, "Stalled", None),
        (GOOD, "Reconciling", None),
        (GOOD, "Unrestricted", None),
        (GOOD._replace(is_unrestricted=True), "Unrestricted", ("True", "OperatorRights")),
        (GOOD._replace(is_unrestricted=True), "Applied", ("True", "AllTenantsReady")),
        (GOOD._replace(counts=TenantCounts(3, 1, 1)), "Applied", ("False", "NotAllTenantsReady")),
        (GOOD._replace(counts=TenantCounts(3, 1, 1)), "Reconciling", ("True", "NotAllTenantsReady")),
        (GOOD._replace(counts=TenantCounts()), "Applied", ("False", "NoTenants")),
        (GOOD._replace(problems=(WRONG,)), "Valid", ("False", "ValidationFailed")),
        (GOOD._replace(problems=(WRONG,)), "Stalled", ("True", "ValidationFailed")),
        (GOOD._replace(rollout=FAILED), "Stalled", ("True", "RolloutFailed")),
        (
            GOOD._replace(hold=DeletionHold.for_tenants(HoldReason.TOO_MANY, ["a"])),
            "DeletionHeld",
            ("True", "TooManyAtOnce"),
        ),
    ],
)
def test_conditions_follow_from_the_observation(
    state: TemplateObservation, type_: str, expected: tuple[str, str] | None
) -> None:
    assert conditions_of(state).get(type_) == expected


@pytest.mark.parametrize(
    ("active_generation", "words"), [(3, "version 3 stays active"), (0, "no version of it is active yet")]
)
def test_a_problem_is_reported_with_its_position_and_the_active_version(
    active_generation: int, words: str
) -> None:
    state = GOOD._replace(problems=(WRONG,), active_generation=active_generation)
    conditions: list[dict[str, Any]] = template_status(state, {}, NOW)["conditions"]
    message = next(each["message"] for each in conditions if each["type"] == "Valid")
    assert message.startswith(
        'spec.configMaps[a].nameTemplate, line 1, column 8: function "uper" not defined'
    )
    assert words in message


def test_a_held_deletion_is_in_the_status_while_it_is_held() -> None:
    hold = DeletionHold.for_tenants(HoldReason.TOO_MANY, [f"t{number:02}" for number in range(12)])
    held = template_status(GOOD._replace(hold=hold), {}, NOW)["heldDeletion"]
    assert (held["count"], held["approveWith"]) == (12, f"12-{hold.digest}")
    assert held["sample"] == [f"t{number:02}" for number in range(10)]
    assert "heldDeletion" not in template_status(GOOD._replace(is_released=True), {}, NOW)


def test_many_problems_have_a_bounded_message() -> None:
    problems = tuple(WRONG._replace(message="x" * 5000) for _ in range(100))
    for condition in template_status(GOOD._replace(problems=problems), {}, NOW)["conditions"]:
        assert len(condition["message"]) <= 32768


def test_the_same_observation_gives_the_same_status() -> None:
    first = template_status(GOOD, {}, NOW)
    assert template_status(GOOD, first, "2026-02-02T00:00:00Z") == first
