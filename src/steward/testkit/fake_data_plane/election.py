"""Elects the primary of a shard. Pure.

A primary stays primary while its pod is ready. When it is lost, the shard has no primary for a while, as in the real
data plane; then another pooler becomes primary. A pod that comes back is a replica, unless there is no other.
"""

from collections.abc import Sequence
from typing import NamedTuple

from steward.testkit.fake_data_plane.faults import DataPlaneFault, DataPlaneFaults


class Instance(NamedTuple):
    """A program: the name of its record, and the uid of its pod, which differs for the next pod of that name."""

    name: str
    uid: str


class Leadership(NamedTuple):
    """The current or, if vacant, the last primary, and the time of the last change."""

    last: Instance | None
    is_vacant: bool
    since: float


def elect(candidates: Sequence[Instance], before: Leadership | None, now: float, delay: float) -> Leadership:
    """`candidates` are ready and may be primary. The first election of a shard has no delay."""
    if before is None:
        return _new_leadership(candidates, None, now)
    if not before.is_vacant and before.last in candidates:
        return before
    vacant = before if before.is_vacant else Leadership(before.last, True, now)
    return (
        _new_leadership(candidates, vacant.last, now)
        if candidates and now - vacant.since >= delay
        else vacant
    )


def _new_leadership(candidates: Sequence[Instance], last: Instance | None, now: float) -> Leadership:
    others = sorted(
        candidates, key=lambda candidate: (last is not None and candidate.name == last.name, candidate.name)
    )
    return Leadership(others[0], False, now) if others else Leadership(last, True, now)


def primary_names(
    lead: Leadership, candidates: Sequence[Instance], faults: DataPlaneFaults
) -> frozenset[str]:
    """The names of the poolers that report to be primary."""
    if DataPlaneFault.NO_PRIMARY in faults:
        return frozenset()
    if DataPlaneFault.TWO_PRIMARIES in faults:
        return frozenset(candidate.name for candidate in sorted(candidates)[:2])
    return frozenset() if lead.is_vacant or lead.last is None else frozenset((lead.last.name,))
