"""What a registry's status says: how many Tenants there are and should be, and what keeps them from it. Pure.

The counts hold at every moment: while the table cannot be read, the rows of the last good read stay what they were.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from steward.kube.objects.conditions import RECONCILING, STALLED, Conditions
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import reasons
from steward.tenants.api.registry import SHOWN
from steward.tenants.fleet.fleet import DEGRADED, Counts
from steward.tenants.guard import approval
from steward.tenants.sources.rows import Rejected
from steward.tenants.status.conditions import (
    DELETION_HELD,
    Said,
    conditions_of,
    has_turned,
    held,
    released,
    say,
    told_together,
)
from steward.tenants.validation.template import Problem

READY = "Ready"
SOURCE_REACHABLE = "SourceReachable"
REASON_LENGTH = 300
SHOWN_TEMPLATES = 5


class RegistryState(NamedTuple):
    """All that the status is made from."""

    metadata: ObjectMeta
    templates: int = 0
    active_rows: int | None = None
    """Of the last good read; None before there was one."""
    counts: Counts = Counts()
    waiting: Mapping[str, int] = MappingProxyType({})
    """How many Tenants there are of each template that does not exist."""
    rejected: Sequence[Rejected] = ()
    rejected_rows: int = 0
    hold: approval.Hold | None = None
    is_released: bool = False
    """It was held, and may leave with its Tenants."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with the spec."""
    source_problem: str = ""
    """Why the last read failed; empty when it did not."""
    write_problem: str = ""
    last_sync: str = ""

    @property
    def desired(self) -> int:
        return self.templates * (self.active_rows or 0)


def registry_status(state: RegistryState, before: dict[str, Any], now: str) -> dict[str, Any]:
    """Equal to the one before if all but the time of the last read is: a table at rest costs no writes."""
    generation = state.metadata.generation
    status = _numbers(state)
    status["conditions"] = say(conditions_of(before), said_of(state), generation, now)
    is_same = {name: value for name, value in before.items() if name != "lastSyncTime"} == status
    time = before.get("lastSyncTime") if is_same else state.last_sync
    return {**status, "lastSyncTime": time} if time else status


def _numbers(state: RegistryState) -> dict[str, Any]:
    status: dict[str, Any] = {
        "observedGeneration": state.metadata.generation,
        "referencingTemplates": state.templates,
        "desired": state.desired,
        "ready": state.counts.ready,
        "failed": state.counts.failed,
        "rejectedRows": state.rejected_rows,
    }
    if state.active_rows is not None:
        status["activeRows"] = state.active_rows
    if state.rejected:
        status["rejected"] = [rejection(row) for row in state.rejected[:SHOWN]]
    if state.hold is not None:
        status["heldDeletion"] = _held_deletion(state.hold)
    return status


def rejection(row: Rejected) -> dict[str, str]:
    return {"uid": row.shown, "reason": row.reason[:REASON_LENGTH]}


def _held_deletion(hold: approval.Hold) -> dict[str, Any]:
    return {
        "count": hold.size,
        "digest": hold.digest,
        "reason": hold.reason.value,
        "sample": list(hold.sample),
        "approveWith": hold.approve_with,
    }


def said_of(state: RegistryState) -> list[Said]:
    said = [_ready(state), _reachable(state), _deletion(state)]
    if state.waiting:
        said.append(_degraded(state))
    if state.problems:
        said.append(Said(STALLED, True, reasons.INVALID_SPEC, told_together(state.problems)))
    elif progress := _progress(state):
        said.append(Said(RECONCILING, True, *progress))
    return said


def _ready(state: RegistryState) -> Said:
    if state.problems:
        return Said(READY, False, reasons.INVALID_SPEC, told_together(state.problems))
    if state.source_problem:
        return Said(READY, False, reasons.DATABASE_CONNECTION_FAILED, state.source_problem)
    if not state.last_sync:
        return Said(READY, False, reasons.NOT_READ_YET, "the table is being read for the first time")
    if state.write_problem:
        return Said(READY, False, reasons.WRITE_FAILED, state.write_problem)
    return Said(READY, True, reasons.DATABASE_CONNECTED, f"the table has {state.active_rows} active rows")


def _reachable(state: RegistryState) -> Said:
    if state.source_problem:
        kept = "The last known rows stay in force and nothing is deleted."
        return Said(
            SOURCE_REACHABLE, False, reasons.DATABASE_CONNECTION_FAILED, f"{state.source_problem}. {kept}"
        )
    if not state.last_sync:
        return Said(SOURCE_REACHABLE, False, reasons.NOT_READ_YET, "the table has not been read yet")
    return Said(SOURCE_REACHABLE, True, reasons.SOURCE_READ, "the last read came to its end")


def _deletion(state: RegistryState) -> Said:
    if state.hold is not None:
        return held(state.hold)
    if state.is_released:
        return released()
    return Said(DELETION_HELD, False, reasons.NOTHING_HELD, "no deletion waits for approval")


def _degraded(state: RegistryState) -> Said:
    """Tenants without a template are nobody's to render or to delete, and somebody should know."""
    listed = [f"{name} ({count})" for name, count in sorted(state.waiting.items())]
    more = len(listed) - SHOWN_TEMPLATES
    names = ", ".join(listed[:SHOWN_TEMPLATES]) + (f" and {more} more" if more > 0 else "")
    told = (
        f"Tenants wait for a TenantTemplate that does not exist: {names}. They stay as they are. "
        "Bring the template back, or delete these Tenants if they are not wanted any more."
    )
    return Said(DEGRADED, True, reasons.TEMPLATE_MISSING, told)


def warnings(state: RegistryState, before: Conditions) -> list[tuple[str, str]]:
    """Reason and message of what has turned bad since: what an event is for."""
    found = []
    if state.source_problem and has_turned(before, _reachable(state)):
        found.append((reasons.DATABASE_QUERY_FAILED, state.source_problem))
    if state.waiting and has_turned(before, said := _degraded(state)):
        found.append((said.reason, said.message))
    return found


def _progress(state: RegistryState) -> tuple[str, str] | None:
    if not state.last_sync:
        return reasons.NOT_READ_YET, "the table has not been read yet"
    if state.counts.ready < state.desired:
        return reasons.WAITING_FOR_TENANTS, f"{state.counts.ready} of {state.desired} Tenants are ready"
    return None
