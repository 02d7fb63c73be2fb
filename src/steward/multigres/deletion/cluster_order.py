"""The order in which a cluster goes: who is asked to go now, and who is waited for. Pure.

    gateways -> orchestrators and pools -> records -> topology server -> the rest

Asked by force, everything is asked at once, and only the end is waited for. Nobody is asked but as it was seen: the
garbage collector may be taking owners away at this moment, and what it lets go stays.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import to_builtins

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import HasMetadata, controller_of
from steward.multigres.deletion.annotations import set_as_seen
from steward.runtime.plan.steps import Delete, Patch, Plan

REASON = "its cluster is going"
FEW = 5


class Present(NamedTuple):
    """Something that is still there."""

    ref: Ref
    seen: HasMetadata


class Remains(NamedTuple):
    """What is left of a cluster."""

    cells: Sequence[Present]
    gateways: Sequence[Present]
    groups: Sequence[Present]
    shards: Sequence[Present]
    servers: Sequence[Present]
    rest: Sequence[Present]

    @property
    def owned(self) -> list[Present]:
        """What the cluster itself owns; gateways and shards belong to its children."""
        return [*self.cells, *self.groups, *self.servers, *self.rest]


class Then(Enum):
    """What comes after the steps."""

    WAIT = "wait"
    DEREGISTER = "take the records away, then ask again"
    RELEASE = "nothing is left"


class Next(NamedTuple):
    steps: Plan
    then: Then
    waits_for: str = ""


def next_step(remains: Remains) -> Next:
    asked = ask(remains.cells)
    if remains.gateways:
        return Next(asked, Then.WAIT, _told(remains.gateways))
    asked = (*asked, *ask(remains.groups))
    # A Shard whose group is gone is the garbage collector's to ask; whose owner was taken away, ours.
    strays = [shard for shard in remains.shards if not shard.seen.metadata.owner_references]
    if remains.groups or remains.shards:
        waits = _told([*remains.shards, *remains.groups])
        return Next((*asked, *ask(strays)), Then.WAIT, waits)
    if remains.cells:
        return Next(asked, Then.WAIT, _told(remains.cells))
    return Next((), Then.DEREGISTER)


def last_step(remains: Remains) -> Next:
    """Once the records are gone."""
    if remains.servers:
        return Next(ask(remains.servers), Then.WAIT, _told(remains.servers))
    if remains.rest:
        return Next(ask(remains.rest), Then.WAIT, _told(remains.rest))
    return Next((), Then.RELEASE)


def by_force(remains: Remains) -> Next:
    everything = [*remains.cells, *remains.groups, *remains.shards, *remains.servers, *remains.rest]
    if not everything:
        return Next((), Then.DEREGISTER)
    return Next(ask(everything), Then.WAIT, _told(everything))


def ask(present: Sequence[Present]) -> Plan:
    return tuple(
        Delete(each.ref, each.seen.metadata.uid, REASON, resource_version=each.seen.metadata.resource_version)
        for each in present
        if each.seen.metadata.deletion_timestamp is None
    )


def let_go(owner_uid: str, present: Sequence[Present]) -> Plan:
    """Everybody stays, without an owner. Not left to the garbage collector alone: it overlooks what belongs to a kind
    that was defined within its last half minute, and deletes that for its missing owner soon after."""
    return tuple(_without_owner(owner_uid, each) for each in present)


def _without_owner(owner_uid: str, each: Present) -> Patch:
    meta = each.seen.metadata
    others = [to_builtins(owner) for owner in meta.owner_references if owner.uid != owner_uid]
    return set_as_seen(each.ref, meta, "ownerReferences", others)


def was_orphaned(owned: Sequence[Present], labelled: Sequence[HasMetadata]) -> bool:
    """Whether a deletion with `--cascade=orphan` is already through: its mark is gone, and so are all owners.

    Nothing else takes the owner from every child: an owner that a hand took from one leaves the others.
    """
    return not owned and any(controller_of(each.metadata) is None for each in labelled)


def _told(present: Sequence[Present]) -> str:
    names = [f"{each.ref.kind.kind} {each.ref.key.name}" for each in present]
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"waiting for {', '.join(names[:FEW])}{more} to end"
