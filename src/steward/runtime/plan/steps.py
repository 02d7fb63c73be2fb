"""A plan: what a reconcile wants done, as a value. These are the only verbs there are.

Pure code makes plans, `carry` carries them out, and a test reads them. What must not happen cannot be written down: a
delete without a uid could hit a namesake made a moment ago, a hold of nothing holds nothing.

Neighbouring `Apply` and `Create` steps are independent of each other and go out together. Every other verb waits for
what stands before it: the order of the plan is the order of the writes.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

from msgspec import Struct

from steward.kube.objects import patches
from steward.kube.objects.kinds import Manifest, Ref, ref_of

Propagation = Literal["Background", "Foreground", "Orphan"]
Way = Literal["deletion", "eviction"]


class EventType(Enum):
    NORMAL = "Normal"
    WARNING = "Warning"


class PlanError(ValueError):
    """A step that must not exist was asked for."""


class Apply(Struct, frozen=True):
    """Server-side apply by our field manager; nothing is sent when nothing would change.

    With `only_if_absent` the object is made or nothing is touched, decided by the server in one call: AlreadyExists
    where one of that name stands. It spares the look at the server before the first apply under a name. Who gets
    AlreadyExists looks at whose it is: it may be our own, made by a call whose answer was lost.
    """

    manifest: Manifest
    force: bool = True
    manager: str | None = None
    only_if_absent: bool = False

    @property
    def ref(self) -> Ref:
        return ref_of(self.manifest)


class Create(Struct, frozen=True):
    """Make it if it is not there. What is there already stays as it is."""

    manifest: Manifest

    @property
    def ref(self) -> Ref:
        return ref_of(self.manifest)


class Patch(Struct, frozen=True):
    """For what apply cannot say: finalizers, and fields that others own as well."""

    ref: Ref
    patch: patches.Patch
    subresource: str = ""


class Delete(Struct, frozen=True):
    """Exactly this object, never a namesake; the reason goes into the log.

    A pod may go by eviction: then a disruption budget may say no, which is no error but leaves it where it is.
    With a `resource_version` it goes only as it was seen, for what others may be letting go at this moment: changed
    since, it is a Conflict, and the next reconcile looks again.
    """

    ref: Ref
    uid: str
    reason: str
    propagation: Propagation = "Background"
    grace_seconds: int | None = None
    by: Way = "deletion"
    resource_version: str = ""

    def __post_init__(self) -> None:
        if not self.uid:
            raise PlanError(f"delete of {self.ref} without a uid: read the object first")
        if not self.reason:
            raise PlanError(f"delete of {self.ref} without a reason")


class Status(Struct, frozen=True):
    """The whole status, each time: a forced apply of the status subresource by our manager."""

    ref: Ref
    status: dict[str, Any]


class Emit(Struct, frozen=True):
    """An event about an object. The uid is found in the caches when it is left out."""

    ref: Ref
    reason: str
    message: str
    type: EventType = EventType.NORMAL
    uid: str = ""


class Hold(Struct, frozen=True):
    """Something that would have been done to `count` objects and was not, and why. Nothing is written."""

    count: int
    reason: str
    message: str

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PlanError(f"hold ({self.reason}) of {self.count} objects: a hold holds something")


class Requeue(Struct, frozen=True):
    """Look again after this many seconds."""

    after: float

    def __post_init__(self) -> None:
        if self.after < 0:
            raise PlanError(f"requeue after {self.after} s: the past is no time to come back")


Step = Apply | Create | Patch | Delete | Status | Emit | Hold | Requeue
Plan = tuple[Step, ...]


def about(step: Step) -> Ref | None:
    """The object that a step touches; a hold and a requeue touch none."""
    return None if isinstance(step, Hold | Requeue) else step.ref


def groups(plan: Plan) -> list[Plan]:
    """The plan cut into what may go out together: a run of applies and creates, or one step of any other verb."""
    cut: list[list[Step]] = []
    for step in plan:
        if isinstance(step, Apply | Create) and cut and isinstance(cut[-1][0], Apply | Create):
            cut[-1].append(step)
        else:
            cut.append([step])
    return [tuple(group) for group in cut]


def status_manifest(step: Status) -> Manifest:
    """The object that an apply of its status sends: its name, and the status alone."""
    kind, key = step.ref
    metadata = {"name": key.name} | ({"namespace": key.namespace} if key.namespace else {})
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "status": step.status,
    }
