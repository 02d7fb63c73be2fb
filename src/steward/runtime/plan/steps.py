"""A plan: the steps that a reconcile decides on, as a value. There are no other kinds of step.

Pure functions make plans, `executor` executes them, and tests compare them. Unsafe steps cannot be constructed: a
delete without a uid could hit a new object of the same name, and a hold has at least one object.

Adjacent `Apply` and `Create` steps are independent of each other and are executed concurrently. Every other step waits
for the steps before it: the order of the plan is the order of the writes.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

from msgspec import Struct

from steward.kube.objects import patches
from steward.kube.objects.kinds import Manifest, Ref, ref_of

Propagation = Literal["Background", "Foreground", "Orphan"]
DeletionMethod = Literal["deletion", "eviction"]


class EventType(Enum):
    NORMAL = "Normal"
    WARNING = "Warning"


class PlanError(ValueError):
    """An unsafe step: the message names the object and the missing field."""


class Apply(Struct, frozen=True):
    """Server-side apply by our field manager; nothing is sent when nothing would change.

    With `only_if_absent` the API server creates the object or raises AlreadyExists, in one call. This saves a read
    before the first apply of a name. On AlreadyExists the caller checks who manages the object: it may be ours, created
    by a call whose response was lost.

    With a `resource_version` the API server rejects the apply when the object has changed since it was read.
    """

    manifest: Manifest
    force: bool = True
    manager: str | None = None
    only_if_absent: bool = False
    resource_version: str = ""

    @property
    def ref(self) -> Ref:
        return ref_of(self.manifest)


class Create(Struct, frozen=True):
    """Create the object if it does not exist. An existing object is not changed."""

    manifest: Manifest

    @property
    def ref(self) -> Ref:
        return ref_of(self.manifest)


class Patch(Struct, frozen=True):
    """A patch, where apply does not fit: finalizers, and fields that others own as well."""

    ref: Ref
    patch: patches.Patch
    subresource: str = ""
    manager: str | None = None


class Delete(Struct, frozen=True):
    """Deletes the object with this uid, never another one of the same name; the reason is logged.

    A pod can be evicted instead: if a disruption budget forbids that, the pod stays and no error is raised.
    With a `resource_version` the object is deleted only if it has not changed, because another controller may be
    releasing it at the same time. If it has changed, the API server returns a Conflict and the next reconcile decides
    again.
    """

    ref: Ref
    uid: str
    reason: str
    propagation: Propagation = "Background"
    grace_seconds: int | None = None
    by: DeletionMethod = "deletion"
    resource_version: str = ""

    def __post_init__(self) -> None:
        if not self.uid:
            raise PlanError(f"delete of {self.ref} without a uid: read the object first")
        if not self.reason:
            raise PlanError(f"delete of {self.ref} without a reason")


class Status(Struct, frozen=True):
    """The complete status: a forced apply of the status subresource by our field manager."""

    ref: Ref
    status: dict[str, Any]


class Emit(Struct, frozen=True):
    """A Kubernetes Event for an object. Without a uid, the executor takes it from the caches."""

    ref: Ref
    reason: str
    message: str
    type: EventType = EventType.NORMAL
    uid: str = ""


class Hold(Struct, frozen=True):
    """An action on `count` objects that is held back, and why. Nothing is written."""

    count: int
    reason: str
    message: str

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PlanError(f"hold ({self.reason}) of {self.count} objects: a hold has at least one object")


class Requeue(Struct, frozen=True):
    """Reconcile again after this many seconds."""

    after: float

    def __post_init__(self) -> None:
        if self.after < 0:
            raise PlanError(f"requeue after {self.after} s: the delay must not be negative")


Step = Apply | Create | Patch | Delete | Status | Emit | Hold | Requeue
Plan = tuple[Step, ...]


def step_target(step: Step) -> Ref | None:
    """The object that a step concerns; None for a hold and a requeue."""
    return None if isinstance(step, Hold | Requeue) else step.ref


def concurrent_groups(plan: Plan) -> list[Plan]:
    """Splits the plan into groups executed concurrently: adjacent applies and creates, or one step of another kind."""
    groups: list[list[Step]] = []
    for step in plan:
        if isinstance(step, Apply | Create) and groups and isinstance(groups[-1][0], Apply | Create):
            groups[-1].append(step)
        else:
            groups.append([step])
    return [tuple(group) for group in groups]


def status_manifest(step: Status) -> Manifest:
    """The manifest that an apply of the status sends: name and status only.

    Empty maps are left out. An apply that drops the last key of a map in a custom resource sets the map to null, which
    the schema rejects: the status would never change again. Without the map, the API server removes it."""
    kind, key = step.ref
    metadata = {"name": key.name} | ({"namespace": key.namespace} if key.namespace else {})
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "status": _without_empty_maps(step.status),
    }


def _without_empty_maps(fields: dict[str, Any]) -> dict[str, Any]:
    cleaned = {
        name: _without_empty_maps(value) if isinstance(value, dict) else value
        for name, value in fields.items()
    }
    return {name: value for name, value in cleaned.items() if value != {}}
