"""Conditions and messages that registries and templates have in common. Pure."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.objects.conditions import (
    FALSE,
    RECONCILING,
    STALLED,
    TRUE,
    Condition,
    Conditions,
    condition_manifests,
    find_condition,
    set_conditions,
    without_condition,
)
from steward.runtime.status.transitions import has_new_message
from steward.tenants import reasons
from steward.tenants.guard.approval import DeletionHold
from steward.tenants.validation.problems import Problem

SHOWN_PROBLEMS: Final = 20
DELETION_HELD: Final = "DeletionHeld"
_MAX_LENGTH: Final = 30_000


class ConditionState(NamedTuple):
    """The current state of one condition. Some conditions exist only while they are true."""

    type: str
    is_true: bool
    reason: str
    message: str


def describe_problem(problem: Problem) -> str:
    """Field, line and column, then the message."""
    place = problem.field
    if problem.line is not None:
        place += f", line {problem.line}"
        place += "" if problem.column is None else f", column {problem.column}"
    return f"{place}: {problem.message}"


def describe_problems(problems: Iterable[Problem]) -> str:
    found = list(problems)
    lines = [describe_problem(problem) for problem in found[:SHOWN_PROBLEMS]]
    if len(found) > SHOWN_PROBLEMS:
        lines.append(f"and {len(found) - SHOWN_PROBLEMS} more")
    return "\n".join(lines)[:_MAX_LENGTH]


def read_conditions(status: dict[str, Any]) -> Conditions:
    """The conditions of a status; empty if they cannot be decoded."""
    try:
        return msgspec.convert(status.get("conditions") or (), tuple[Condition, ...])
    except msgspec.ValidationError:
        return ()


def merge_conditions(
    previous: Conditions, states: Iterable[ConditionState], generation: int, now: str
) -> list[dict[str, Any]]:
    """The conditions to write: exactly these, with the transition times of those that did not change."""
    desired = tuple(_condition(each, generation) for each in states)
    kept = tuple(condition for condition in previous if any(condition.type == new.type for new in desired))
    return condition_manifests(set_conditions(kept, desired, now))


def _condition(state: ConditionState, generation: int) -> Condition:
    return Condition(state.type, TRUE if state.is_true else FALSE, state.reason, state.message, generation)


def has_changed(previous: Conditions, state: ConditionState) -> bool:
    """Whether the condition differs from the previous one, and so needs an event."""
    return has_new_message(previous, _condition(state, 0))


def stalled_status(previous: dict[str, Any], generation: int, message: str, now: str) -> dict[str, Any]:
    """The previous status with a Stalled condition; the next status that is derived without a stall removes it."""
    kept = without_condition(read_conditions(previous), RECONCILING)
    conditions = set_conditions(kept, (_condition(stalled_condition(message), generation),), now)
    return {**previous, "observedGeneration": generation, "conditions": condition_manifests(conditions)}


def stalled_condition(message: str) -> ConditionState:
    """The API server rejects a request of the operator, and does so at every attempt."""
    return ConditionState(STALLED, True, reasons.APPLY_FAILED, message)


def previous_stall(previous: Conditions) -> str:
    """The message of such a condition; empty without one."""
    found = find_condition(previous, STALLED)
    return found.message if found is not None and found.reason == reasons.APPLY_FAILED else ""


def released_condition() -> ConditionState:
    """The condition of a registry or template that is deleted with its Tenants after an approval."""
    return ConditionState(
        DELETION_HELD, False, reasons.DELETION_RELEASED, "approved: its Tenants are being deleted"
    )


def held_condition(hold: DeletionHold) -> ConditionState:
    return ConditionState(DELETION_HELD, True, hold.reason.value, hold.message)


def held_deletion_status(hold: DeletionHold) -> dict[str, Any]:
    return {
        "count": hold.size,
        "digest": hold.digest,
        "reason": hold.reason.value,
        "sample": list(hold.sample),
        "approveWith": hold.approve_with,
    }
