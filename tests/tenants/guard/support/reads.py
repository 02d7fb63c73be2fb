"""Fleets of one template, and reads of their table with one letter for each row."""

from typing import Any

from steward.tenants.guard.approval import names_digest
from steward.tenants.guard.decision import (
    CleanRead,
    FailedRead,
    GuardDecision,
    GuardedTenant,
    GuardInput,
    GuardPolicy,
    decide_deletions,
)

TEN = tuple("abcdefghij")


def tenants_of(
    *uids: str, template: str = "web", delete_after: float | None = None
) -> tuple[GuardedTenant, ...]:
    return tuple(GuardedTenant(f"{uid}-{template}", uid, template, delete_after) for uid in uids)


def names(*uids: str) -> tuple[str, ...]:
    return tuple(f"{uid}-web" for uid in uids)


def read(at: float, active: str = "", inactive: str = "", rejected: str = "", **more: Any) -> CleanRead:
    rows = len(active) + len(inactive) + len(rejected)
    return CleanRead(
        at,
        more.get("source", "db"),
        rows + more.get("rows_without_uid", 0),
        frozenset(active),
        frozenset(inactive),
        frozenset(rejected),
        more.get("rows_without_uid", 0),
    )


def guard_input(*tenants: GuardedTenant, **more: Any) -> GuardInput:
    policy = more.pop("policy", GuardPolicy())
    return GuardInput(tenants, policy, **more)


def after(first: CleanRead | FailedRead, found: GuardInput) -> GuardInput:
    """The same input with the state that a read left."""
    return found._replace(state=decide_deletions(first, found).state)


def touched(decision: GuardDecision) -> set[str]:
    return {*decision.delete, *(mark.name for mark in decision.mark)}


def approval(*names: str) -> str:
    return f"{len(names)}-{names_digest(names)}"
