"""Decides the order in which the parts of a cluster are deleted. Pure.

    gateways -> orchestrators and pools -> records -> topology server -> the rest

A forced deletion deletes everything at once and waits only for the end. Every delete has the resource version that was
read: the garbage collector may be removing owner references at this moment, and an object that it orphans must stay.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import to_builtins

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import HasMetadata, controller_of
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.steps import Delete, Patch, Plan

REASON = "its cluster is being deleted"
MAX_LISTED = 5


class RemainingObject(NamedTuple):
    ref: Ref
    live: HasMetadata


class RemainingObjects(NamedTuple):
    """The objects of a cluster that still exist."""

    cells: Sequence[RemainingObject]
    gateways: Sequence[RemainingObject]
    groups: Sequence[RemainingObject]
    shards: Sequence[RemainingObject]
    servers: Sequence[RemainingObject]
    rest: Sequence[RemainingObject]

    @property
    def owned(self) -> list[RemainingObject]:
        """The objects that the cluster itself owns; gateways and shards belong to its children."""
        return [*self.cells, *self.groups, *self.servers, *self.rest]


class NextAction(Enum):
    """The action after the steps."""

    WAIT = "wait"
    DEREGISTER = "remove the records, then take the final step"
    RELEASE = "remove the finalizer"


class DeletionStep(NamedTuple):
    steps: Plan
    action: NextAction
    waits_for: str = ""


def next_deletion_step(remaining: RemainingObjects) -> DeletionStep:
    steps = delete_steps(remaining.cells)
    if remaining.gateways:
        return DeletionStep(steps, NextAction.WAIT, _waiting_message(remaining.gateways))
    steps = (*steps, *delete_steps(remaining.groups))
    # The garbage collector deletes a Shard whose group is gone; a Shard without owner references is deleted here.
    ownerless = [shard for shard in remaining.shards if not shard.live.metadata.owner_references]
    if remaining.groups or remaining.shards:
        message = _waiting_message([*remaining.shards, *remaining.groups])
        return DeletionStep((*steps, *delete_steps(ownerless)), NextAction.WAIT, message)
    if remaining.cells:
        return DeletionStep(steps, NextAction.WAIT, _waiting_message(remaining.cells))
    return DeletionStep((), NextAction.DEREGISTER)


def final_deletion_step(remaining: RemainingObjects) -> DeletionStep:
    """Once the records are gone."""
    for objects in (remaining.servers, remaining.rest):
        if objects:
            return DeletionStep(delete_steps(objects), NextAction.WAIT, _waiting_message(objects))
    return DeletionStep((), NextAction.RELEASE)


def forced_deletion_step(remaining: RemainingObjects) -> DeletionStep:
    everything = [
        *remaining.cells,
        *remaining.groups,
        *remaining.shards,
        *remaining.servers,
        *remaining.rest,
    ]
    if not everything:
        return DeletionStep((), NextAction.DEREGISTER)
    return DeletionStep(delete_steps(everything), NextAction.WAIT, _waiting_message(everything))


def delete_steps(objects: Sequence[RemainingObject]) -> Plan:
    return tuple(
        Delete(ref, live.metadata.uid, REASON, resource_version=live.metadata.resource_version)
        for ref, live in objects
        if live.metadata.deletion_timestamp is None
    )


def orphan_steps(owner_uid: str, objects: Sequence[RemainingObject]) -> Plan:
    """Removes the owner reference from every object. Not left to the garbage collector alone: it overlooks dependents
    of a kind that was defined within its last half minute, and deletes them for their missing owner soon after."""
    return tuple(_orphan_step(owner_uid, remaining) for remaining in objects)


def _orphan_step(owner_uid: str, remaining: RemainingObject) -> Patch:
    meta = remaining.live.metadata
    others = [to_builtins(owner) for owner in meta.owner_references if owner.uid != owner_uid]
    return Patch(remaining.ref, MergePatch.metadata_at_version(meta.resource_version, ownerReferences=others))


def was_orphaned(owned: Sequence[RemainingObject], labelled: Sequence[HasMetadata]) -> bool:
    """Whether a deletion with `--cascade=orphan` is complete: its finalizer is gone, and so are all owner references.

    Nothing else removes the owner from every child: a user who removes it from one child leaves the others.
    """
    return not owned and any(controller_of(live.metadata) is None for live in labelled)


def _waiting_message(objects: Sequence[RemainingObject]) -> str:
    names = [f"{remaining.ref.kind.kind} {remaining.ref.key.name}" for remaining in objects]
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"waiting for {', '.join(names[:MAX_LISTED])}{more} to end"
