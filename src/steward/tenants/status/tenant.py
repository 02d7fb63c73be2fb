"""What a Tenant's status says, from how far each of its objects is. Pure.

Ready if and only if all of its objects are. Still starting is neither failed nor degraded. An object that belongs to
somebody else counts as conflicted and as failed. The same world twice gives the same status: times move only with what
they tell.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.objects.conditions import (
    FALSE,
    READY,
    RECONCILING,
    STALLED,
    TRUE,
    Condition,
    Conditions,
    find_condition,
    set_conditions,
    without_condition,
    write_conditions,
)
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import AppliedObject, TenantStatus
from steward.tenants.status.progress import Progress, State

PROGRESSING: Final = "Progressing"
CONFLICTED: Final = "Conflicted"
DEGRADED: Final = "Degraded"
NAMED: Final = 3
LISTED: Final = 100
MESSAGE_LENGTH: Final = 2000
_WHILE_TRUE: Final = (RECONCILING, STALLED)
_TROUBLES: Final = (State.FAILED, State.DENIED, State.CONFLICTED, State.LINGERING)


class Trouble(NamedTuple):
    """Why nothing of a Tenant can be applied. What it has stays."""

    reason: str
    message: str


class Before(NamedTuple):
    """The status so far, and the moment of the next."""

    status: TenantStatus
    generation: int
    now: str

    @property
    def conditions(self) -> Conditions:
        found = self.status.conditions
        return () if found is UNSET else tuple(_condition(each) for each in found)


def _condition(found: Any) -> Condition:
    return Condition(
        found.type,
        found.status,
        found.reason,
        found.message,
        found.observed_generation,
        found.last_transition_time,
    )


class Tally(NamedTuple):
    desired: int
    ready: int
    failed: int
    """By themselves: without conflicts and without what was skipped, but with what should be gone and is not."""
    denied: int
    conflicted: int
    skipped: int
    under_way: int

    @property
    def is_ready(self) -> bool:
        return self.ready == self.desired and not self.failed

    @property
    def is_degraded(self) -> bool:
        return bool(self.failed or self.denied or self.conflicted)


def tally(progress: Sequence[Progress]) -> Tally:
    def count(*states: State) -> int:
        return sum(each.state in states for each in progress)

    return Tally(
        len(progress) - count(State.LINGERING),
        count(State.READY),
        count(State.FAILED, State.LINGERING),
        count(State.DENIED),
        count(State.CONFLICTED),
        count(State.SKIPPED),
        count(State.WAITING, State.BLOCKED),
    )


def status_of(
    before: Before, progress: Sequence[Progress], records: Iterable[AppliedObject]
) -> dict[str, Any]:
    count = tally(progress)
    skipped = [each.id for each in progress if each.state is State.SKIPPED]
    return {
        "observedGeneration": before.generation,
        "desiredResources": count.desired,
        "readyResources": count.ready,
        "failedResources": count.failed + count.denied + count.conflicted,
        "conflictedResources": count.conflicted,
        "skippedResources": count.skipped,
        **({"skippedResourceIds": skipped[:LISTED]} if skipped else {}),
        **recorded_objects(records),
        "conditions": write_conditions(_conditions(before, progress, count)),
    }


def recorded_objects(records: Iterable[AppliedObject]) -> dict[str, Any]:
    """What was applied, in the words of both lists."""
    found = list(records)
    keys = [f"{each.kind}/{each.namespace}/{each.name}@{each.id}" for each in found]
    return {"appliedResources": keys, "applied": msgspec.to_builtins(found)}


def announced(before: Before, desired: int, records: Iterable[AppliedObject]) -> dict[str, Any]:
    """The status that is written before the objects are. The generation is not observed yet."""
    status = written(before.status)
    reconciling = Condition(RECONCILING, TRUE, reasons.RECONCILING, "the objects are being applied")
    starting = _starting(before)
    conditions = set_conditions(
        without_condition(before.conditions, STALLED), _stamped((*starting, reconciling), before), before.now
    )
    return {
        "readyResources": 0,
        "failedResources": 0,
        **status,
        "desiredResources": desired,
        **recorded_objects(records),
        "conditions": write_conditions(conditions),
    }


def _starting(before: Before) -> tuple[Condition, ...]:
    """A Tenant that never had a status says from its first moment that it is not ready."""
    progressing = Condition(PROGRESSING, TRUE, reasons.RECONCILING, "the objects are being applied")
    if find_condition(before.conditions, READY) is not None:
        return (progressing,)
    return (
        Condition(READY, FALSE, reasons.NOT_ALL_RESOURCES_READY, "the objects are being applied"),
        progressing,
    )


def written(status: TenantStatus) -> dict[str, Any]:
    """A status as it was written, whole."""
    found: dict[str, Any] = msgspec.to_builtins(status)
    return found


def troubled(before: Before, trouble: Trouble) -> dict[str, Any]:
    """Nothing was applied: what there is stays, and is told as it was."""
    message = trouble.message[:MESSAGE_LENGTH]
    conditions = set_conditions(
        without_condition(before.conditions, RECONCILING),
        _stamped(
            (
                Condition(READY, FALSE, trouble.reason, message),
                Condition(DEGRADED, TRUE, trouble.reason, message),
                Condition(PROGRESSING, FALSE, reasons.RECONCILE_COMPLETE, "nothing is applied"),
                Condition(STALLED, TRUE, trouble.reason, message),
            ),
            before,
        ),
        before.now,
    )
    status = written(before.status)
    return {
        "readyResources": 0,
        "desiredResources": 0,
        **status,
        "observedGeneration": before.generation,
        "failedResources": max(1, status.get("failedResources", 0)),
        "conditions": write_conditions(conditions),
    }


def leaving(before: Before, message: str) -> dict[str, Any]:
    """Its objects go one after the other, which takes its time and is no failure."""
    told = message[:MESSAGE_LENGTH]
    said = (
        Condition(READY, FALSE, reasons.TENANT_DELETING, told),
        Condition(DEGRADED, FALSE, reasons.HEALTHY, "nothing has failed"),
        Condition(PROGRESSING, TRUE, reasons.TENANT_DELETING, told),
        Condition(RECONCILING, TRUE, reasons.TENANT_DELETING, told),
    )
    kept = without_condition(before.conditions, STALLED)
    conditions = set_conditions(kept, _stamped(said, before), before.now)
    return {
        **written(before.status),
        "observedGeneration": before.generation,
        "conditions": write_conditions(conditions),
    }


def _conditions(before: Before, progress: Sequence[Progress], count: Tally) -> Conditions:
    message = message_of(progress, count)
    conflict = _named([each for each in progress if each.state is State.CONFLICTED])
    main = (
        Condition(READY, TRUE if count.is_ready else FALSE, ready_reason(count), message),
        Condition(
            PROGRESSING,
            TRUE if count.under_way else FALSE,
            reasons.RECONCILING if count.under_way else reasons.RECONCILE_COMPLETE,
            _under_way(progress) or "all is applied",
        ),
        Condition(
            CONFLICTED,
            TRUE if count.conflicted else FALSE,
            reasons.RESOURCE_CONFLICT if count.conflicted else reasons.NO_CONFLICT,
            conflict or "no object belongs to somebody else",
        ),
        Condition(
            DEGRADED,
            TRUE if count.is_degraded else FALSE,
            degraded_reason(count),
            message if count.is_degraded else "nothing has failed",
        ),
    )
    said = (*main, *_kstatus(count, message, progress))
    types = {each.type for each in said}
    # What goes on keeps its time: what stays as it is must not differ from one look to the next.
    kept = tuple(each for each in before.conditions if each.type in types or each.type not in _WHILE_TRUE)
    return set_conditions(kept, _stamped(said, before), before.now)


def _kstatus(count: Tally, message: str, progress: Sequence[Progress]) -> tuple[Condition, ...]:
    """Present only while they are true: their absence is the normal state."""
    if count.under_way:
        return (Condition(RECONCILING, TRUE, reasons.RECONCILING, _under_way(progress)),)
    return (Condition(STALLED, TRUE, degraded_reason(count), message),) if count.is_degraded else ()


def _stamped(conditions: Iterable[Condition], before: Before) -> list[Condition]:
    return [msgspec.structs.replace(each, observed_generation=before.generation) for each in conditions]


def ready_reason(count: Tally) -> str:
    failed = count.failed + count.denied
    if count.conflicted:
        return reasons.RESOURCES_FAILED_AND_CONFLICTED if failed else reasons.RESOURCES_CONFLICTED
    if failed:
        return reasons.PERMISSION_DENIED if count.denied else reasons.RESOURCES_FAILED
    return reasons.RECONCILED if count.is_ready else reasons.NOT_ALL_RESOURCES_READY


def degraded_reason(count: Tally) -> str:
    failed = count.failed + count.denied
    if count.conflicted:
        return reasons.RESOURCE_FAILURES_AND_CONFLICTS if failed else reasons.RESOURCE_CONFLICTS
    if failed:
        return reasons.PERMISSION_DENIED if count.denied else reasons.RESOURCE_FAILURES
    return reasons.HEALTHY


def message_of(progress: Sequence[Progress], count: Tally) -> str:
    if count.is_ready:
        return f"all {count.desired} resources are ready"
    worst = [each for each in progress if each.state in _TROUBLES]
    open_ones = worst or [each for each in progress if each.state is not State.READY]
    return f"{count.ready} of {count.desired} resources are ready; {_named(open_ones)}"[:MESSAGE_LENGTH]


def _under_way(progress: Sequence[Progress]) -> str:
    return _named([each for each in progress if each.state in (State.WAITING, State.BLOCKED)])


def _named(progress: Sequence[Progress]) -> str:
    told = [f"{each.id}: {each.why}" for each in progress[:NAMED]]
    more = f"; and {len(progress) - NAMED} more" if len(progress) > NAMED else ""
    return ("; ".join(told) + more)[:MESSAGE_LENGTH]


def is_urgent(before: Before, status: dict[str, Any]) -> bool:
    """Whether the Tenant became ready, stopped being so, or got into or out of trouble: numbers alone can wait."""
    was = [(each.type, each.status, each.reason) for each in before.conditions]
    now = [(each["type"], each["status"], each["reason"]) for each in status["conditions"]]
    return _standing(was) != _standing(now)


def _standing(conditions: Iterable[tuple[str, str, str]]) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (type_, status, reason)
        for type_, status, reason in conditions
        if type_ == READY or (status == TRUE and type_ in (DEGRADED, CONFLICTED, STALLED))
    )
