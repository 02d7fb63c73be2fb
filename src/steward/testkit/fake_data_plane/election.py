"""Who leads a shard. Pure: candidates, the lead so far and the time in; the lead from now on out.

The one who leads keeps on leading while its pod is ready. When it goes, the shard has no primary for a while, as in the
real data plane, and then another one takes over: a pod that comes back is a replica, unless there is no other.
"""

from collections.abc import Sequence
from typing import NamedTuple

from steward.testkit.fake_data_plane.faults import Misbehaviour, Misbehaviours


class Instance(NamedTuple):
    """A program by the name of its record. The next pod of the same name is another instance: its uid differs."""

    name: str
    uid: str


class Lead(NamedTuple):
    """Who leads, or led last and whether the place is vacant, since when."""

    last: Instance | None
    is_vacant: bool
    since: float


def elect(candidates: Sequence[Instance], before: Lead | None, now: float, delay: float) -> Lead:
    """`candidates` are ready and may lead. The first election of a shard takes no time."""
    if before is None:
        return _lead(candidates, None, now)
    if not before.is_vacant and before.last in candidates:
        return before
    vacant = before if before.is_vacant else Lead(before.last, True, now)
    return _lead(candidates, vacant.last, now) if candidates and now - vacant.since >= delay else vacant


def _lead(candidates: Sequence[Instance], last: Instance | None, now: float) -> Lead:
    others = sorted(candidates, key=lambda each: (last is not None and each.name == last.name, each.name))
    return Lead(others[0], False, now) if others else Lead(last, True, now)


def leading(lead: Lead, candidates: Sequence[Instance], wrong: Misbehaviours) -> frozenset[str]:
    """The names of those who say that they lead."""
    if Misbehaviour.NO_PRIMARY in wrong:
        return frozenset()
    if Misbehaviour.TWO_PRIMARIES in wrong:
        return frozenset(each.name for each in sorted(candidates)[:2])
    return frozenset() if lead.is_vacant or lead.last is None else frozenset((lead.last.name,))
