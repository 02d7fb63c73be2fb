"""The condition RolesReady."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.status import Conditions
from steward.multigres.status.roles import RolesReport, role_components


def previous(status: str, reason: str) -> Conditions:
    condition = {
        "type": "RolesReady",
        "status": status,
        "reason": reason,
        "message": "before",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return msgspec.convert([condition], Conditions)


@pytest.mark.parametrize(
    ("report", "last", "expected"),
    [
        (RolesReport(), [], []),
        (RolesReport(1), [], ["RolesWaiting"]),
        (RolesReport(1), previous("True", "RolesReady"), ["RolesReady"]),
        (RolesReport(1, waiting="no primary"), previous("True", "RolesReady"), ["RolesReady"]),
        (RolesReport(1, problems=("refused",)), previous("True", "RolesReady"), ["RolesRefused"]),
        (RolesReport(1, is_settled=True), previous("False", "RolesRefused"), ["RolesReady"]),
    ],
    ids=["no-roles", "new", "after-a-restart", "without-primary", "refused", "settled"],
)
def test_the_condition_follows_the_outcome_and_stays_while_that_is_unknown(
    report: RolesReport, last: Any, expected: list[str]
) -> None:
    assert [condition.reason for condition in report.conditions(last, 3)] == expected


def test_a_cluster_is_not_ready_before_its_roles_were_set_once() -> None:
    [component] = role_components(RolesReport(1, waiting="s has no primary").conditions([], 1))
    assert not component.is_ready
    assert component.hint == "s has no primary"


def test_a_refused_role_is_a_problem_of_a_cluster_that_serves() -> None:
    [component] = role_components(RolesReport(1, problems=("role x: no",)).conditions([], 1))
    assert component.is_ready
    assert "role x: no" in component.problem
