"""How far each object is, and who waits for whom. Pure.

A dependent waits, silently and without being counted, until everything that it depends on is ready. Where something
that it depends on has failed it is skipped, unless its resource says otherwise. Nothing here waits for anything itself:
it tells, and when to look again.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from steward.kube.objects.readiness import Failed, Readiness, Ready
from steward.kube.objects.timestamps import from_timestamp
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET


class State(StrEnum):
    READY = "Ready"
    WAITING = "Waiting"
    """Applied, and not ready yet."""
    BLOCKED = "Blocked"
    """Not applied: what it depends on is not ready yet."""
    SKIPPED = "Skipped"
    """Not applied: what it depends on has failed."""
    FAILED = "Failed"
    CONFLICTED = "Conflicted"
    """It, or a field of it, belongs to somebody else."""
    DENIED = "Denied"
    """We may not."""
    LINGERING = "Lingering"
    """It should be gone and cannot be deleted. It is not among what is desired."""

    @property
    def has_failed(self) -> bool:
        return self in (State.FAILED, State.CONFLICTED, State.DENIED, State.SKIPPED)


class Progress(NamedTuple):
    """How far one object is, and why it is no further."""

    id: str
    state: State
    why: str = ""
    look_again_after: float | None = None
    event: str = ""
    """The reason of the event that tells about it, once."""
    despite: tuple[str, ...] = ()
    """What it depends on that has failed, and in spite of which it was applied."""


class Gate(NamedTuple):
    """Whether a resource may be applied now."""

    progress: Progress | None
    """None: it may."""
    despite: tuple[str, ...] = ()
    """Failed dependencies that it is applied in spite of."""


def gate(resource: TResource, states: Mapping[str, State]) -> Gate:
    """What the states of its dependencies mean for a resource. Those that do not exist hold nothing back."""
    needed = [] if resource.depend_ids is UNSET else resource.depend_ids
    failed = tuple(id for id in needed if id in states and states[id].has_failed)
    if failed and resource.skip_on_dependency_failure:
        return Gate(
            Progress(resource.id, State.SKIPPED, f"{_named(failed)} failed", event="DependencySkipped")
        )
    waits = [id for id in needed if id in states and states[id] in (State.WAITING, State.BLOCKED)]
    if waits:
        return Gate(Progress(resource.id, State.BLOCKED, f"waits for {_named(waits)}"))
    return Gate(None, failed)


def _named(ids: Iterable[str]) -> str:
    return ", ".join(ids)


class Look(NamedTuple):
    """An applied object at one moment."""

    readiness: Readiness
    changed_at: str
    """When we last changed it."""
    now: float


def progress_of(resource: TResource, look: Look) -> Progress:
    """The timeout counts from the last change that we applied; past it the object has failed, until it is ready."""
    if isinstance(look.readiness, Ready) or not resource.wait_for_ready:
        return Progress(resource.id, State.READY)
    why = look.readiness.why
    if isinstance(look.readiness, Failed):
        return Progress(resource.id, State.FAILED, why, event="ResourceFailed")
    left = resource.timeout_seconds - (look.now - from_timestamp(look.changed_at))
    if left <= 0:
        told = f"not ready within {resource.timeout_seconds} seconds: {why}"
        return Progress(resource.id, State.FAILED, told, event="ReadinessTimeout")
    return Progress(resource.id, State.WAITING, why, look_again_after=left + 0.1)
