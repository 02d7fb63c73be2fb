"""The order in which a cluster goes: who is asked to go now, and who is waited for. Pure.

    gateways -> orchestrators and pools -> records -> topology server -> the rest

Asked by force, everything is asked at once, and only the end is waited for.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from steward.kube.kinds import Ref
from steward.kube.meta import HasMetadata
from steward.runtime.plan import Delete, Plan

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
        Delete(each.ref, each.seen.metadata.uid, REASON)
        for each in present
        if each.seen.metadata.deletion_timestamp is None
    )


def _told(present: Sequence[Present]) -> str:
    names = [f"{each.ref.kind.kind} {each.ref.key.name}" for each in present]
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"waiting for {', '.join(names[:FEW])}{more} to end"
