"""Decides the order in which the parts of a cluster are deleted. Pure.

    gateways -> orchestrators and pools -> records -> topology server -> the rest

A forced deletion deletes everything at once and waits only for the end. Every delete has the resource version that was
read: the garbage collector may be removing owner references at this moment, and an object that it orphans must stay.

Objects of the cluster that have no controller (`ownerless_objects`) end at the same place in the order: no other
controller deletes them.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import to_builtins

from steward.kube.objects.kinds import POD, Ref
from steward.kube.objects.meta import HasMetadata, controller_of, key_of
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.draining import DeletionTerms, DrainPlan, DrainStage, plan_drain
from steward.runtime.plan.steps import Delete, Patch, Plan

REASON = "its cluster is being deleted"
MAX_LISTED = 5
NO_WORKLOADS = DrainStage((), 0.0)


class RemainingObject(NamedTuple):
    ref: Ref
    live: HasMetadata


class OwnerlessWorkloads(NamedTuple):
    """Workloads and pods of the cluster that have no controller, in the stages in which they shut down."""

    gateways: DrainStage = NO_WORKLOADS
    orchestrators: DrainStage = NO_WORKLOADS
    pools: DrainStage = NO_WORKLOADS
    etcd: DrainStage = NO_WORKLOADS
    admin: DrainStage = NO_WORKLOADS

    def objects(self) -> list[RemainingObject]:
        return [
            remaining
            for stage in self
            for remaining in (
                *(RemainingObject(workload.ref, workload.live) for workload in stage.workloads),
                *(RemainingObject(Ref(POD, key_of(pod)), pod) for pod in stage.ownerless_pods),
            )
        ]


class RemainingObjects(NamedTuple):
    """The objects of a cluster that still exist. Gateways are all of the cluster, with or without a controller."""

    cells: Sequence[RemainingObject]
    gateways: Sequence[RemainingObject]
    groups: Sequence[RemainingObject]
    shards: Sequence[RemainingObject]
    servers: Sequence[RemainingObject]
    rest: Sequence[RemainingObject]
    ownerless: OwnerlessWorkloads = OwnerlessWorkloads()

    def owned_by(self, uid: str) -> list[RemainingObject]:
        """The objects whose controller is the cluster itself."""
        parts = (*self.cells, *self.groups, *self.servers, *self.rest)
        return [part for part in parts if _is_controlled_by(uid, part.live)]


class NextAction(Enum):
    """The action after the steps."""

    WAIT = "wait"
    DEREGISTER = "remove the records, then take the final step"
    RELEASE = "remove the finalizer"


class DeletionStep(NamedTuple):
    steps: Plan
    action: NextAction
    waits_for: str = ""


def next_deletion_step(remaining: RemainingObjects, terms: DeletionTerms) -> DeletionStep:
    ownerless = remaining.ownerless
    cells, gateways = delete_steps(remaining.cells), plan_drain([ownerless.gateways], terms)
    if remaining.gateways or gateways.waits_for:
        message = _waiting_message(remaining.gateways) if remaining.gateways else _drain_message(gateways)
        return DeletionStep((*cells, *gateways.steps), NextAction.WAIT, message)
    steps = (*cells, *delete_steps(remaining.groups))
    # The garbage collector deletes a Shard whose group is gone; a Shard without owner references is deleted here.
    shards = [shard for shard in remaining.shards if not shard.live.metadata.owner_references]
    if remaining.groups or remaining.shards:
        message = _waiting_message([*remaining.shards, *remaining.groups])
        return DeletionStep((*steps, *delete_steps(shards)), NextAction.WAIT, message)
    # Shards end their own pods; these are left from Shards that were orphaned or are gone. Cells wait for them.
    servers = plan_drain([ownerless.orchestrators, ownerless.pools], terms)
    if servers.waits_for:
        return DeletionStep((*steps, *servers.steps), NextAction.WAIT, _drain_message(servers))
    if remaining.cells:
        return DeletionStep(steps, NextAction.WAIT, _waiting_message(remaining.cells))
    return DeletionStep((), NextAction.DEREGISTER)


def final_deletion_step(remaining: RemainingObjects, terms: DeletionTerms) -> DeletionStep:
    """Once the records are gone."""
    if remaining.servers:
        steps = delete_steps(remaining.servers)
        return DeletionStep(steps, NextAction.WAIT, _waiting_message(remaining.servers))
    drain = plan_drain([remaining.ownerless.etcd, remaining.ownerless.admin], terms)
    if drain.waits_for:
        return DeletionStep(drain.steps, NextAction.WAIT, _drain_message(drain))
    if remaining.rest:
        return DeletionStep(delete_steps(remaining.rest), NextAction.WAIT, _waiting_message(remaining.rest))
    return DeletionStep((), NextAction.RELEASE)


def revision_step(revisions: Sequence[RemainingObject]) -> DeletionStep:
    """The last step: ReplicaSets and ControllerRevisions whose Deployment or StatefulSet was deleted without them. They
    are not cached: they are read when everything else is gone."""
    if not revisions:
        return DeletionStep((), NextAction.RELEASE)
    return DeletionStep(delete_steps(revisions), NextAction.WAIT, _waiting_message(revisions))


def forced_deletion_step(remaining: RemainingObjects) -> DeletionStep:
    everything = [
        *remaining.cells,
        *remaining.groups,
        *remaining.shards,
        *remaining.servers,
        *remaining.ownerless.objects(),
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

    Nothing else removes the owner from every child: a user who removes it from one child leaves the others. A child
    that is being deleted does not count: in a deletion of the whole cluster it may be the last one.
    """
    orphans = [live for live in labelled if controller_of(live.metadata) is None]
    return not owned and any(live.metadata.deletion_timestamp is None for live in orphans)


def _is_controlled_by(uid: str, live: HasMetadata) -> bool:
    controller = controller_of(live.metadata)
    return controller is not None and controller.uid == uid


def _drain_message(drain: DrainPlan) -> str:
    return f"waiting for {drain.waits_for} to end"


def _waiting_message(objects: Sequence[RemainingObject]) -> str:
    names = [f"{remaining.ref.kind.kind} {remaining.ref.key.name}" for remaining in objects]
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"waiting for {', '.join(names[:MAX_LISTED])}{more} to end"
