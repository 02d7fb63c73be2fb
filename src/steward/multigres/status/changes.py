"""Which changes of a status are reported as events, and which are written at once. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from steward.kube.objects.conditions import FALSE, READY, STALLED, TRUE, Condition, find_condition, is_true
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.status.conditions import (
    AVAILABLE,
    CERTIFICATES_READY,
    DEGRADED,
    POD_CHANGE_CONDITIONS,
    TOPOLOGY_REGISTERED,
    read_conditions,
)
from steward.runtime.status.transitions import has_new_reason


class Transition(NamedTuple):
    """A condition change that a user may want to know of."""

    reason: str
    message: str
    is_problem: bool


def transitions(previous: api.Conditions | Unset, current: Sequence[dict[str, Any]]) -> list[Transition]:
    """The changes to report as events. A problem of another kind, with another reason, is reported again."""
    old = read_conditions(previous)
    new = {
        each["type"]: Condition(each["type"], each["status"], each["reason"], each["message"])
        for each in current
    }
    problems = [
        Transition(new[type_].reason, new[type_].message, is_problem=True)
        for type_ in (STALLED, DEGRADED)
        if type_ in new and new[type_].status == TRUE and has_new_reason(old, new[type_])
    ]
    if problems:
        return problems[:1]
    ready, previous_ready = new[READY], find_condition(old, READY)
    if previous_ready is not None and previous_ready.status != ready.status:
        return [Transition(ready.reason, ready.message, is_problem=False)]
    return []


def had_problem(conditions: api.Conditions | Unset) -> bool:
    previous = read_conditions(conditions)
    return is_true(previous, DEGRADED) or is_true(previous, STALLED)


def is_urgent(previous: api.Conditions | Unset, observed: int | Unset, status: dict[str, Any]) -> bool:
    """Whether a status must be written at once. Progress, and improvements short of Ready, can wait a little: a write
    for every pod that starts would cost more than creating the pods. The reason why pods are not replaced or not
    removed is not progress: a user may have to act."""
    if or_default(observed, 0) != status["observedGeneration"]:
        return True
    old = find_condition(read_conditions(previous), READY)
    new = next(condition["status"] for condition in status["conditions"] if condition["type"] == READY)
    has_turned = old is None or old.status != new
    return has_turned or has_degraded(previous, status) or has_another_cause(previous, status)


def has_another_cause(previous: api.Conditions | Unset, status: dict[str, Any]) -> bool:
    """Whether a rollout or a scale-down continues, stops or ends for another reason. That it is not known yet which
    pods an edit concerns is no reason: a moment later it is. Nor is it one that it concerns none."""
    old = {condition.type: condition.reason for condition in read_conditions(previous)}
    new = {condition["type"]: condition["reason"] for condition in status["conditions"]}
    return any(_has_another_reason(old.get(type_), new.get(type_)) for type_ in POD_CHANGE_CONDITIONS)


def _has_another_reason(old: str | None, new: str | None) -> bool:
    if new in (old, reasons.REVISION_PENDING):
        return False
    return (old, new) != (reasons.REVISION_PENDING, reasons.PODS_UP_TO_DATE)


def has_degraded(previous: api.Conditions | Unset, status: dict[str, Any]) -> bool:
    """Whether Degraded or Stalled changed, or a good condition was lost."""
    old = {condition.type: condition.status for condition in read_conditions(previous)}
    new = {condition["type"]: condition["status"] for condition in status["conditions"]}
    turned = any((new.get(type_) == TRUE) != (old.get(type_) == TRUE) for type_ in (DEGRADED, STALLED))
    lost = any(
        old.get(type_) == TRUE and new.get(type_) != TRUE for type_ in (AVAILABLE, TOPOLOGY_REGISTERED)
    )
    lacks_certificates = old.get(CERTIFICATES_READY) != FALSE and new.get(CERTIFICATES_READY) == FALSE
    return turned or lost or lacks_certificates


def unready_since(status: dict[str, Any]) -> float:
    [ready] = (condition for condition in status["conditions"] if condition["type"] == READY)
    return from_timestamp(ready["lastTransitionTime"])


def names_cause(status: dict[str, Any]) -> bool:
    """Whether a condition names a cause that a user may have to look at."""
    causes = (reasons.HELD_UP, reasons.COMPONENT_IN_TROUBLE)
    return any(condition["reason"] in causes for condition in status["conditions"])
