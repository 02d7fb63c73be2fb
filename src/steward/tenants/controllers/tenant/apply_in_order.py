"""Brings all objects of a Tenant up, level by level: what is independent goes out together, what depends waits.

Nothing waits here for readiness. A level whose dependencies are not ready is left for a later look, and a change of
what it waits for is what brings that look about.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Final

from steward.tenants.controllers.common.concurrency import together
from steward.tenants.controllers.tenant.apply import Hand, Job, is_settled
from steward.tenants.objects.dependencies import edges_of, levels
from steward.tenants.objects.desired import Wanted
from steward.tenants.status.progress import Progress, State, gate

AT_ONCE: Final = 16
"""Objects of one Tenant that are applied side by side; the carrier bounds those of the process."""


async def bring_up(hand: Hand, wanted: Sequence[Wanted], job: Job) -> list[Progress]:
    """How far each object is, in the order in which they were given."""
    turns = asyncio.Semaphore(AT_ONCE)
    by_id = {each.id: each for each in reversed(wanted)}
    done: dict[str, Progress] = {}
    for level in levels(edges_of(each.resource for each in wanted)):
        found = await together(_in_turn(turns, _bring(hand, by_id[id], job, done)) for id in level)
        done.update(zip(level, found, strict=True))
    return [done[each.id] for each in wanted]


def _is_kept_up(hand: Hand, hindrance: Progress, wanted: Wanted, job: Job) -> bool:
    """What is there in this version is looked after although a dependency restarts: edits are still put back."""
    if hindrance.state is not State.BLOCKED or not is_settled(wanted, job):
        return False
    return hand.eyes.cached(wanted.ref) is not None


async def _in_turn(turns: asyncio.Semaphore, work: Coroutine[None, None, Progress]) -> Progress:
    async with turns:
        return await work


async def _bring(hand: Hand, wanted: Wanted, job: Job, done: Mapping[str, Progress]) -> Progress:
    states: dict[str, State] = {id: progress.state for id, progress in done.items()}
    found = gate(wanted.resource, states)
    if found.progress is not None and not _is_kept_up(hand, found.progress, wanted, job):
        return found.progress
    return (await hand.bring(wanted, job))._replace(despite=found.despite)
