"""Derives the status of a Tenant from the progress of its resources. Pure.

A Tenant is ready if and only if all its resources are. Starting is neither failed nor degraded. A foreign object
counts as conflicted and as failed. The same progress gives the same status: times change only together with what they
are about.
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
    condition_manifests,
    find_condition,
    set_conditions,
    without_condition,
)
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import AppliedObject, TenantStatus
from steward.tenants.status.pause import PAUSED
from steward.tenants.status.progress import ResourceProgress, ResourceState

PROGRESSING: Final = "Progressing"
CONFLICTED: Final = "Conflicted"
DEGRADED: Final = "Degraded"
MAX_NAMED: Final = 3
MAX_LISTED: Final = 100
MESSAGE_LENGTH: Final = 2000
_WHILE_TRUE: Final = (RECONCILING, STALLED)
_FAILED_STATES: Final = (
    ResourceState.FAILED,
    ResourceState.DENIED,
    ResourceState.CONFLICTED,
    ResourceState.UNDELETED,
)


class TenantProblem(NamedTuple):
    """Why nothing of a Tenant can be applied. Its existing objects are kept."""

    reason: str
    message: str


class PreviousStatus(NamedTuple):
    """The previous status, and the generation and time of the next."""

    status: TenantStatus
    generation: int
    now: str

    @property
    def conditions(self) -> Conditions:
        """Without Paused: these statuses are of Tenants that are not."""
        found = () if self.status.conditions is UNSET else self.status.conditions
        return tuple(_condition(each) for each in found if each.type != PAUSED)


def _condition(found: Any) -> Condition:
    return Condition(
        found.type,
        found.status,
        found.reason,
        found.message,
        found.observed_generation,
        found.last_transition_time,
    )


class ResourceCounts(NamedTuple):
    desired: int
    ready: int
    failed: int
    """Without conflicted, denied and skipped resources, with orphans that cannot be deleted."""
    denied: int
    conflicted: int
    skipped: int
    unfinished: int

    @property
    def is_ready(self) -> bool:
        return self.ready == self.desired and not self.failed

    @property
    def is_degraded(self) -> bool:
        return bool(self.failed or self.denied or self.conflicted)


def count_resources(progress: Sequence[ResourceProgress]) -> ResourceCounts:
    def count(*states: ResourceState) -> int:
        return sum(each.state in states for each in progress)

    return ResourceCounts(
        len(progress) - count(ResourceState.UNDELETED),
        count(ResourceState.READY),
        count(ResourceState.FAILED, ResourceState.UNDELETED),
        count(ResourceState.DENIED),
        count(ResourceState.CONFLICTED),
        count(ResourceState.SKIPPED),
        count(ResourceState.WAITING, ResourceState.BLOCKED),
    )


def unfinished_ids(progress: Sequence[ResourceProgress]) -> frozenset[str]:
    return frozenset(
        each.id for each in progress if each.state in (ResourceState.WAITING, ResourceState.BLOCKED)
    )


def tenant_status(
    previous: PreviousStatus, progress: Sequence[ResourceProgress], records: Iterable[AppliedObject]
) -> dict[str, Any]:
    count = count_resources(progress)
    skipped = [each.id for each in progress if each.state is ResourceState.SKIPPED]
    return {
        "observedGeneration": previous.generation,
        "desiredResources": count.desired,
        "readyResources": count.ready,
        "failedResources": count.failed + count.denied + count.conflicted,
        "conflictedResources": count.conflicted,
        "skippedResources": count.skipped,
        **({"skippedResourceIds": skipped[:MAX_LISTED]} if skipped else {}),
        **applied_fields(records),
        "conditions": condition_manifests(_conditions(previous, progress, count)),
    }


def applied_fields(records: Iterable[AppliedObject]) -> dict[str, Any]:
    """The applied objects, as both lists of the status have them. `applied` is never cut: an object that it does not
    name would not be deleted with its Tenant."""
    found = list(records)
    keys = [f"{each.kind}/{each.namespace}/{each.name}@{each.id}" for each in found[:MAX_LISTED]]
    omitted = len(found) - len(keys)
    return {
        "appliedResources": keys,
        **({"appliedResourcesOmitted": omitted} if omitted else {}),
        "applied": msgspec.to_builtins(found),
    }


def initial_status(
    previous: PreviousStatus, desired: int, records: Iterable[AppliedObject]
) -> dict[str, Any]:
    """The status that is written before the objects are applied. The generation is not observed yet."""
    status = status_fields(previous.status)
    reconciling = Condition(RECONCILING, TRUE, reasons.RECONCILING, "the objects are being applied")
    starting = _starting_conditions(previous)
    conditions = set_conditions(
        without_condition(previous.conditions, STALLED),
        _with_generation((*starting, reconciling), previous),
        previous.now,
    )
    status.pop("appliedResourcesOmitted", None)
    return {
        "readyResources": 0,
        "failedResources": 0,
        **status,
        "desiredResources": desired,
        **applied_fields(records),
        "conditions": condition_manifests(conditions),
    }


def _starting_conditions(previous: PreviousStatus) -> tuple[Condition, ...]:
    """A Tenant without a status gets Ready=False at once."""
    progressing = Condition(PROGRESSING, TRUE, reasons.RECONCILING, "the objects are being applied")
    if find_condition(previous.conditions, READY) is not None:
        return (progressing,)
    return (
        Condition(READY, FALSE, reasons.NOT_ALL_RESOURCES_READY, "the objects are being applied"),
        progressing,
    )


def status_fields(status: TenantStatus) -> dict[str, Any]:
    """All fields of a status, as they were written."""
    found: dict[str, Any] = msgspec.to_builtins(status)
    return found


def problem_status(previous: PreviousStatus, problem: TenantProblem) -> dict[str, Any]:
    """Nothing was applied; keeps the previous object records."""
    message = problem.message[:MESSAGE_LENGTH]
    conditions = set_conditions(
        without_condition(previous.conditions, RECONCILING),
        _with_generation(
            (
                Condition(READY, FALSE, problem.reason, message),
                Condition(DEGRADED, TRUE, problem.reason, message),
                Condition(PROGRESSING, FALSE, reasons.RECONCILE_COMPLETE, "nothing is applied"),
                Condition(STALLED, TRUE, problem.reason, message),
            ),
            previous,
        ),
        previous.now,
    )
    status = status_fields(previous.status)
    return {
        "readyResources": 0,
        "desiredResources": 0,
        **status,
        "observedGeneration": previous.generation,
        "failedResources": max(1, status.get("failedResources", 0)),
        "conditions": condition_manifests(conditions),
    }


def deletion_status(
    previous: PreviousStatus, message: str, reason: str = reasons.TENANT_DELETING
) -> dict[str, Any]:
    """While objects are deleted in order, or wait until they may be deleted. Both may take long and are no failure."""
    message = message[:MESSAGE_LENGTH]
    conditions_now = (
        Condition(READY, FALSE, reason, message),
        Condition(DEGRADED, FALSE, reasons.HEALTHY, "nothing has failed"),
        Condition(PROGRESSING, TRUE, reason, message),
        Condition(RECONCILING, TRUE, reason, message),
    )
    kept = without_condition(previous.conditions, STALLED)
    conditions = set_conditions(kept, _with_generation(conditions_now, previous), previous.now)
    return {
        **status_fields(previous.status),
        "observedGeneration": previous.generation,
        "conditions": condition_manifests(conditions),
    }


def _conditions(
    previous: PreviousStatus, progress: Sequence[ResourceProgress], count: ResourceCounts
) -> Conditions:
    message = ready_message(progress, count)
    conflict = _describe_resources([each for each in progress if each.state is ResourceState.CONFLICTED])
    main = (
        Condition(READY, TRUE if count.is_ready else FALSE, ready_reason(count), message),
        Condition(
            PROGRESSING,
            TRUE if count.unfinished else FALSE,
            reasons.RECONCILING if count.unfinished else reasons.RECONCILE_COMPLETE,
            _describe_unfinished(progress) or "all objects are applied",
        ),
        Condition(
            CONFLICTED,
            TRUE if count.conflicted else FALSE,
            reasons.RESOURCE_CONFLICT if count.conflicted else reasons.NO_CONFLICT,
            conflict or "no object belongs to another owner",
        ),
        Condition(
            DEGRADED,
            TRUE if count.is_degraded else FALSE,
            degraded_reason(count),
            message if count.is_degraded else "nothing has failed",
        ),
    )
    conditions_now = (*main, *_kstatus_conditions(count, message, progress))
    types = {each.type for each in conditions_now}
    # Unchanged conditions keep their transition time, so that an unchanged Tenant has an unchanged status.
    kept = tuple(each for each in previous.conditions if each.type in types or each.type not in _WHILE_TRUE)
    return set_conditions(kept, _with_generation(conditions_now, previous), previous.now)


def _kstatus_conditions(
    count: ResourceCounts, message: str, progress: Sequence[ResourceProgress]
) -> tuple[Condition, ...]:
    """Reconciling and Stalled exist only while they are true, as kstatus expects."""
    if count.unfinished:
        return (Condition(RECONCILING, TRUE, reasons.RECONCILING, _describe_unfinished(progress)),)
    return (Condition(STALLED, TRUE, degraded_reason(count), message),) if count.is_degraded else ()


def _with_generation(conditions: Iterable[Condition], previous: PreviousStatus) -> list[Condition]:
    return [msgspec.structs.replace(each, observed_generation=previous.generation) for each in conditions]


def ready_reason(count: ResourceCounts) -> str:
    failed = count.failed + count.denied
    if count.conflicted:
        return reasons.RESOURCES_FAILED_AND_CONFLICTED if failed else reasons.RESOURCES_CONFLICTED
    if failed:
        return reasons.PERMISSION_DENIED if count.denied else reasons.RESOURCES_FAILED
    return reasons.RECONCILED if count.is_ready else reasons.NOT_ALL_RESOURCES_READY


def degraded_reason(count: ResourceCounts) -> str:
    failed = count.failed + count.denied
    if count.conflicted:
        return reasons.RESOURCE_FAILURES_AND_CONFLICTS if failed else reasons.RESOURCE_CONFLICTS
    if failed:
        return reasons.PERMISSION_DENIED if count.denied else reasons.RESOURCE_FAILURES
    return reasons.HEALTHY


def ready_message(progress: Sequence[ResourceProgress], count: ResourceCounts) -> str:
    if count.is_ready:
        return f"all {count.desired} resources are ready"
    failed = [each for each in progress if each.state in _FAILED_STATES]
    unready = failed or [each for each in progress if each.state is not ResourceState.READY]
    return f"{count.ready} of {count.desired} resources are ready; {_describe_resources(unready)}"[
        :MESSAGE_LENGTH
    ]


def _describe_unfinished(progress: Sequence[ResourceProgress]) -> str:
    return _describe_resources(
        [each for each in progress if each.state in (ResourceState.WAITING, ResourceState.BLOCKED)]
    )


def _describe_resources(progress: Sequence[ResourceProgress]) -> str:
    messages = [f"{each.id}: {each.message}" for each in progress[:MAX_NAMED]]
    more = f"; and {len(progress) - MAX_NAMED} more" if len(progress) > MAX_NAMED else ""
    return ("; ".join(messages) + more)[:MESSAGE_LENGTH]


def is_urgent(previous: PreviousStatus, status: dict[str, Any]) -> bool:
    """Whether Ready, Degraded, Conflicted or Stalled changed. A status with only other counts can be written later."""
    was = [(each.type, each.status, each.reason) for each in previous.conditions]
    now = [(each["type"], each["status"], each["reason"]) for each in status["conditions"]]
    return _urgent_conditions(was) != _urgent_conditions(now)


def _urgent_conditions(conditions: Iterable[tuple[str, str, str]]) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (type_, status, reason)
        for type_, status, reason in conditions
        if type_ == READY or (status == TRUE and type_ in (DEGRADED, CONFLICTED, STALLED))
    )
