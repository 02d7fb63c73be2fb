"""Derives the status of a registry: the counts of its Tenants, and what keeps them from being ready. Pure.

The counts are valid at any time: while the table cannot be read, the number of rows stays that of the last clean
read.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from steward.kube.objects.conditions import RECONCILING, STALLED, Conditions
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import reasons
from steward.tenants.api.registry import MAX_SHOWN
from steward.tenants.fleet.fleet import DEGRADED, TenantCounts
from steward.tenants.guard import approval
from steward.tenants.sources.rows import RowRejection
from steward.tenants.status.conditions import (
    DELETION_HELD,
    ConditionState,
    describe_problems,
    has_changed,
    held_condition,
    held_deletion_status,
    merge_conditions,
    read_conditions,
    released_condition,
    stalled_condition,
)
from steward.tenants.validation.problems import Problem

READY = "Ready"
SOURCE_REACHABLE = "SourceReachable"
REASON_LENGTH = 300
SHOWN_TEMPLATES = 5
_READ_FIELDS = ("lastSyncTime", "lastSyncDuration")


class RegistryObservation(NamedTuple):
    """Everything that the status depends on."""

    metadata: ObjectMeta
    templates: int = 0
    active_rows: int | None = None
    """Of the last clean read; None before the first one."""
    inactive_rows: int | None = None
    counts: TenantCounts = TenantCounts()
    tenants_without_template: Mapping[str, int] = MappingProxyType({})
    """The number of Tenants of each template that does not exist."""
    rejected: Sequence[RowRejection] = ()
    rejected_rows: int = 0
    hold: approval.DeletionHold | None = None
    is_released: bool = False
    """Its deletion was held, and has been approved."""
    problems: tuple[Problem, ...] = ()
    """Problems of the spec."""
    source_problem: str = ""
    """Why the last read failed; empty if it succeeded."""
    write_problem: str = ""
    stall: str = ""
    """Why the API server rejects requests of the operator, if retrying does not end it. Reported here as well as by the
    stall reporter: a status without it, written just before the next attempt fails, would add and remove the condition
    at every attempt."""
    last_sync: str = ""
    last_duration: str = ""
    last_request: str = ""
    """The request of a user that the last read answered."""

    @property
    def desired(self) -> int:
        return self.templates * (self.active_rows or 0)


def registry_status(state: RegistryObservation, previous: dict[str, Any], now: str) -> dict[str, Any]:
    """Equal to the previous status if only the time or duration of the last read differs: an unchanged table causes no
    writes."""
    generation = state.metadata.generation
    status = _count_fields(state)
    status["conditions"] = merge_conditions(
        read_conditions(previous), registry_conditions(state), generation, now
    )
    is_same = {name: value for name, value in previous.items() if name not in _READ_FIELDS} == status
    current = {"lastSyncTime": state.last_sync, "lastSyncDuration": state.last_duration}
    read = previous if is_same else current
    return {**status, **{name: read[name] for name in _READ_FIELDS if read.get(name)}}


def _count_fields(state: RegistryObservation) -> dict[str, Any]:
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
    if state.inactive_rows is not None:
        status["inactiveRows"] = state.inactive_rows
    if state.rejected:
        status["rejected"] = [rejected_row_status(row) for row in state.rejected[:MAX_SHOWN]]
    if state.last_request:
        status["lastSyncRequest"] = state.last_request
    if state.hold is not None:
        status["heldDeletion"] = held_deletion_status(state.hold)
    return status


def rejected_row_status(row: RowRejection) -> dict[str, str]:
    return {"uid": row.shown, "reason": row.reason[:REASON_LENGTH]}


def registry_conditions(state: RegistryObservation) -> list[ConditionState]:
    conditions = [_ready_condition(state), _reachable_condition(state), _deletion_condition(state)]
    if state.tenants_without_template:
        conditions.append(_degraded_condition(state))
    if state.problems:
        conditions.append(
            ConditionState(STALLED, True, reasons.INVALID_SPEC, describe_problems(state.problems))
        )
    elif state.stall:
        conditions.append(stalled_condition(state.stall))
    elif progress := _progress(state):
        conditions.append(ConditionState(RECONCILING, True, *progress))
    return conditions


def _ready_condition(state: RegistryObservation) -> ConditionState:
    if state.problems:
        return ConditionState(READY, False, reasons.INVALID_SPEC, describe_problems(state.problems))
    if state.source_problem:
        return ConditionState(READY, False, reasons.DATABASE_CONNECTION_FAILED, state.source_problem)
    if not state.last_sync:
        return ConditionState(
            READY, False, reasons.NOT_READ_YET, "the table is being read for the first time"
        )
    if state.write_problem:
        return ConditionState(READY, False, reasons.WRITE_FAILED, state.write_problem)
    return ConditionState(READY, True, reasons.DATABASE_CONNECTED, _table_message(state))


def _table_message(state: RegistryObservation) -> str:
    message = f"the table has {state.active_rows} active rows"
    if not state.rejected_rows:
        return message
    return f"{message}; rejected rows: {state.rejected_rows}, see status.rejected"


def _reachable_condition(state: RegistryObservation) -> ConditionState:
    if state.source_problem:
        kept = "The last known rows stay in use and nothing is deleted."
        return ConditionState(
            SOURCE_REACHABLE, False, reasons.DATABASE_CONNECTION_FAILED, f"{state.source_problem}. {kept}"
        )
    if not state.last_sync:
        return ConditionState(
            SOURCE_REACHABLE, False, reasons.NOT_READ_YET, "the table has not been read yet"
        )
    return ConditionState(SOURCE_REACHABLE, True, reasons.SOURCE_READ, "the last read completed")


def _deletion_condition(state: RegistryObservation) -> ConditionState:
    if state.hold is not None:
        return held_condition(state.hold)
    if state.is_released:
        return released_condition()
    return ConditionState(DELETION_HELD, False, reasons.NOTHING_HELD, "no deletion waits for approval")


def _degraded_condition(state: RegistryObservation) -> ConditionState:
    """Tenants without a template are neither rendered nor deleted; the condition makes that visible."""
    listed = [f"{name} ({count})" for name, count in sorted(state.tenants_without_template.items())]
    more = len(listed) - SHOWN_TEMPLATES
    names = ", ".join(listed[:SHOWN_TEMPLATES]) + (f" and {more} more" if more > 0 else "")
    message = (
        f"Tenants wait for a TenantTemplate that does not exist: {names}. They stay as they are. "
        "Create the template again, or delete these Tenants if they are no longer needed."
    )
    return ConditionState(DEGRADED, True, reasons.TEMPLATE_MISSING, message)


def warning_events(state: RegistryObservation, previous: Conditions) -> list[tuple[str, str]]:
    """Reason and message of each condition that has become bad since the previous status."""
    events = []
    if state.source_problem and has_changed(previous, _reachable_condition(state)):
        events.append((reasons.DATABASE_QUERY_FAILED, state.source_problem))
    if state.tenants_without_template and has_changed(previous, degraded := _degraded_condition(state)):
        events.append((degraded.reason, degraded.message))
    return events


def _progress(state: RegistryObservation) -> tuple[str, str] | None:
    if not state.last_sync:
        return reasons.NOT_READ_YET, "the table has not been read yet"
    if state.counts.ready < state.desired:
        return reasons.WAITING_FOR_TENANTS, f"{state.counts.ready} of {state.desired} Tenants are ready"
    return None
