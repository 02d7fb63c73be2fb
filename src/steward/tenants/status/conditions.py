"""Conditions and sentences that registries and templates have in common. Pure."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.objects.conditions import (
    FALSE,
    TRUE,
    Condition,
    Conditions,
    find_condition,
    set_conditions,
    write_conditions,
)
from steward.tenants import reasons
from steward.tenants.guard.approval import Hold
from steward.tenants.validation.template import Problem

SHOWN_PROBLEMS: Final = 20
DELETION_HELD: Final = "DeletionHeld"
_LONGEST: Final = 30_000


class Said(NamedTuple):
    """One condition as it is now. Of those that only exist while they hold, the absence says the opposite."""

    type: str
    holds: bool
    reason: str
    message: str


def told(problem: Problem) -> str:
    """Field, line and column before the words."""
    place = problem.field
    if problem.line is not None:
        place += f", line {problem.line}"
        place += "" if problem.column is None else f", column {problem.column}"
    return f"{place}: {problem.message}"


def told_together(problems: Iterable[Problem]) -> str:
    found = list(problems)
    sentences = [told(problem) for problem in found[:SHOWN_PROBLEMS]]
    if len(found) > SHOWN_PROBLEMS:
        sentences.append(f"and {len(found) - SHOWN_PROBLEMS} more")
    return "\n".join(sentences)[:_LONGEST]


def conditions_of(status: dict[str, Any]) -> Conditions:
    """What a status says, as far as it can be read."""
    try:
        return msgspec.convert(status.get("conditions") or (), tuple[Condition, ...])
    except msgspec.ValidationError:
        return ()


def say(before: Conditions, said: Iterable[Said], generation: int, now: str) -> list[dict[str, Any]]:
    """The conditions to write: these and no others, with the times of those that did not turn."""
    wanted = tuple(
        Condition(each.type, TRUE if each.holds else FALSE, each.reason, each.message, generation)
        for each in said
    )
    kept = tuple(condition for condition in before if any(condition.type == new.type for new in wanted))
    return write_conditions(set_conditions(kept, wanted, now))


def has_turned(before: Conditions, said: Said) -> bool:
    """Whether this is news: what an event is for."""
    known = find_condition(before, said.type)
    return known is None or (known.status == TRUE) != said.holds or known.message != said.message


def released() -> Said:
    """Of what leaves with its Tenants: somebody has named them."""
    return Said(DELETION_HELD, False, reasons.DELETION_RELEASED, "approved: its Tenants are being deleted")


def held(hold: Hold) -> Said:
    return Said(DELETION_HELD, True, hold.reason.value, hold.message)
