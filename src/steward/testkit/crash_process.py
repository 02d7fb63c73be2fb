"""Kills a controller process at a chosen write: just before it is sent, or just after it was committed.

The process talks to the API server through a fault proxy, which holds the write (or its reply) while the process
is killed, so the moment is exact. A test goes through all of them:

    for nth in itertools.count(1):
        process = await start_process([sys.executable, "controller.py"], proxy)
        killed = await kill_at_write(process, proxy, WriteMoment(nth, Moment.BEFORE), until=world_is_as_wanted())
        if not killed:
            break                                   # it made fewer writes than that: every moment was tried
        ...                                         # start it again, and see that the world comes right
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from steward.testkit.proxy.faults import Drop, Hold, HoldReply, Match, Rule
from steward.testkit.proxy.rules import Entry
from steward.testkit.proxy.server import FaultProxy

ANY_WRITE = Match(write=True)


class Moment(StrEnum):
    """When a write is interrupted."""

    BEFORE = "before it is sent"
    AFTER = "after it was committed"


@dataclass(frozen=True)
class WriteMoment:
    """The nth write (from 1) among those that match, and when in its life."""

    nth: int
    moment: Moment
    match: Match = ANY_WRITE


async def start_process(
    command: Sequence[str], proxy: FaultProxy, environment: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    """Run a controller as a process group of its own, with KUBECONFIG set to the way through the proxy."""
    variables = {**os.environ, **(environment or {}), "KUBECONFIG": str(proxy.kubeconfig)}
    return await asyncio.create_subprocess_exec(*command, env=variables, start_new_session=True)


async def kill_at_write(
    process: asyncio.subprocess.Process, proxy: FaultProxy, at: WriteMoment, until: Awaitable[object]
) -> bool:
    """Kill the process at that write; False, and no kill, if `until` comes true first (or the process ends)."""
    entry = proxy.add(_holding(at))
    reached = asyncio.ensure_future(entry.until_hit())
    others = [asyncio.ensure_future(until), asyncio.ensure_future(process.wait())]
    try:
        await asyncio.wait([reached, *others], return_when=asyncio.FIRST_COMPLETED)
        if entry.hits:
            await _kill_while_held(process, proxy, entry)
        return bool(entry.hits)
    finally:
        proxy.remove(entry)
        for waiting in (reached, *others):
            waiting.cancel()
        await asyncio.gather(reached, *others, return_exceptions=True)


async def kill(process: asyncio.subprocess.Process) -> None:
    """SIGKILL the process and what it started, and wait until it is gone."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _holding(at: WriteMoment) -> Rule:
    fault = Hold() if at.moment is Moment.BEFORE else HoldReply()
    return Rule(at.match, fault, first=at.nth, count=1)


async def _kill_while_held(process: asyncio.subprocess.Process, proxy: FaultProxy, entry: Entry) -> None:
    await entry.held.wait()
    # Other writes of the same process may stand at the door: none of them may pass once it is dead.
    door = proxy.add(Rule(entry.rule.match, Drop()))
    await kill(process)
    proxy.cut(entry.rule.match)
    await proxy.until_idle(entry.rule.match)
    proxy.remove(door)
