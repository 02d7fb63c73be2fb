"""Condition transitions: an event reports a change of a condition, never its state. Pure."""

from collections.abc import Iterable

from steward.kube.objects.conditions import Condition, find_condition
from steward.kube.objects.kinds import Ref
from steward.runtime.plan.steps import Emit, EventType


def has_new_reason(previous: Iterable[Condition], condition: Condition) -> bool:
    """Whether the condition is new, or its status or reason has changed: another message alone is progress."""
    old = find_condition(previous, condition.type)
    return old is None or (old.status, old.reason) != (condition.status, condition.reason)


def has_new_message(previous: Iterable[Condition], condition: Condition) -> bool:
    """Whether the condition is new, or its status or message has changed: the message names what a user has to fix."""
    old = find_condition(previous, condition.type)
    return old is None or (old.status, old.message) != (condition.status, condition.message)


def condition_event(ref: Ref, condition: Condition, type_: EventType) -> Emit:
    return Emit(ref, condition.reason, condition.message, type_)
