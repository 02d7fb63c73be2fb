"""The state of each resource of a Tenant, and whether its dependencies allow to apply it. Pure.

A dependent waits, without an event and without counting as failed, until all its dependencies are ready. Where a
dependency has failed, the dependent is skipped, unless its resource says otherwise. Nothing here waits itself: the
result contains the time of the next check.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from steward.kube.objects.readiness import Failed, Readiness, Ready
from steward.kube.objects.timestamps import from_timestamp
from steward.tenants import reasons
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET


class ResourceState(StrEnum):
    READY = "Ready"
    WAITING = "Waiting"
    """Applied, and not ready yet."""
    BLOCKED = "Blocked"
    """Not applied: a dependency is not ready yet."""
    SKIPPED = "Skipped"
    """Not applied: a dependency has failed."""
    FAILED = "Failed"
    CONFLICTED = "Conflicted"
    """The object, or a field of it, is foreign."""
    DENIED = "Denied"
    """The operator is not allowed to apply it."""
    UNDELETED = "Lingering"
    """An orphan that cannot be deleted. It does not count as desired."""

    @property
    def has_failed(self) -> bool:
        return self in (
            ResourceState.FAILED,
            ResourceState.CONFLICTED,
            ResourceState.DENIED,
            ResourceState.SKIPPED,
        )


class ResourceProgress(NamedTuple):
    """The state of one resource, and why it is not ready."""

    id: str
    state: ResourceState
    message: str = ""
    recheck_after: float | None = None
    event_reason: str = ""
    """The reason of the event that reports it, once."""
    failed_dependencies: tuple[str, ...] = ()
    """Failed dependencies despite which it was applied."""


class DependencyCheck(NamedTuple):
    """Whether a resource may be applied now."""

    progress: ResourceProgress | None
    """The state of a resource that may not be applied; None if it may."""
    failed_dependencies: tuple[str, ...] = ()
    """Failed dependencies despite which it is applied."""


def check_dependencies(resource: TResource, states: Mapping[str, ResourceState]) -> DependencyCheck:
    """Whether the states of its dependencies allow to apply a resource. Unknown dependencies are ignored."""
    dependencies = [] if resource.depend_ids is UNSET else resource.depend_ids
    failed = tuple(id for id in dependencies if id in states and states[id].has_failed)
    if failed and resource.skip_on_dependency_failure:
        return DependencyCheck(
            ResourceProgress(
                resource.id,
                ResourceState.SKIPPED,
                f"{_join_ids(failed)} failed",
                event_reason=reasons.DEPENDENCY_SKIPPED,
            )
        )
    unready = [
        id
        for id in dependencies
        if id in states and states[id] in (ResourceState.WAITING, ResourceState.BLOCKED)
    ]
    if unready:
        return DependencyCheck(
            ResourceProgress(resource.id, ResourceState.BLOCKED, f"waits for {_join_ids(unready)}")
        )
    return DependencyCheck(None, failed)


def _join_ids(ids: Iterable[str]) -> str:
    return ", ".join(ids)


class ObservedReadiness(NamedTuple):
    """The readiness of an applied object at a point in time."""

    readiness: Readiness
    changed_at: str
    """When the operator last changed it."""
    now: float


def resource_progress(resource: TResource, observed: ObservedReadiness) -> ResourceProgress:
    """The timeout starts with the last change by the operator; after it the resource has failed until it is ready."""
    if isinstance(observed.readiness, Ready) or not resource.wait_for_ready:
        return ResourceProgress(resource.id, ResourceState.READY)
    reason = observed.readiness.message
    if isinstance(observed.readiness, Failed):
        return ResourceProgress(
            resource.id, ResourceState.FAILED, reason, event_reason=reasons.RESOURCE_FAILED
        )
    left = resource.timeout_seconds - (observed.now - from_timestamp(observed.changed_at))
    if left <= 0:
        message = f"not ready within {resource.timeout_seconds} seconds: {reason}"
        return ResourceProgress(
            resource.id, ResourceState.FAILED, message, event_reason=reasons.READINESS_TIMEOUT
        )
    return ResourceProgress(resource.id, ResourceState.WAITING, reason, recheck_after=left + 0.1)
