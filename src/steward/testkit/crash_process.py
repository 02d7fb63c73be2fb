"""Kills a controller process at a chosen write: just before it is sent, or just after it was committed.

The process talks to the API server through a fault proxy, which holds the write (or its reply) while the process
is killed, so the crash point is exact. A test can iterate over all of them:

    for nth in itertools.count(1):
        process = await start_process([sys.executable, "controller.py"], proxy)
        killed = await kill_at_write(process, proxy, CrashPoint(nth, CrashTiming.BEFORE), until=is_done())
        if not killed:
            break                                   # it made fewer writes than that: all crash points were tried
        ...                                         # start it again, and check that it finishes
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from steward.testkit.proxy.faults import Drop, Hold, HoldReply, Match, Rule
from steward.testkit.proxy.rules import ActiveRule
from steward.testkit.proxy.server import FaultProxy

ANY_WRITE = Match(write=True)
HELD_SECONDS = 30.0
"""How long a write that has reached the proxy may take until it, or its reply, is held."""


class CrashTiming(StrEnum):
    """Whether the process is killed before or after the write."""

    BEFORE = "before it is sent"
    AFTER = "after it was committed"


@dataclass(frozen=True)
class CrashPoint:
    """The nth matching write (from 1) at which the process is killed, before or after it."""

    nth: int
    timing: CrashTiming
    match: Match = ANY_WRITE


class KillableProcess(Protocol):
    """What `kill_at_write` needs of a process, which leads a group of its own: that of asyncio has it."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    async def wait(self) -> int: ...


async def start_process(
    command: Sequence[str], proxy: FaultProxy, environment: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    """Run a controller in its own process group, with KUBECONFIG set to that of the proxy."""
    variables = {**os.environ, **(environment or {}), "KUBECONFIG": str(proxy.kubeconfig)}
    return await asyncio.create_subprocess_exec(*command, env=variables, start_new_session=True)


async def kill_at_write(
    process: KillableProcess, proxy: FaultProxy, crash_point: CrashPoint, until: Awaitable[object]
) -> bool:
    """Kill the process at the crash point; False, without a kill, if `until` completes or the process ends first."""
    entry = proxy.add(_hold_rule(crash_point))
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


async def kill(process: KillableProcess) -> None:
    """SIGKILL the process group, and wait until the process has ended."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _hold_rule(crash_point: CrashPoint) -> Rule:
    fault = Hold() if crash_point.timing is CrashTiming.BEFORE else HoldReply()
    return Rule(crash_point.match, fault, first=crash_point.nth, count=1)


async def _kill_while_held(process: KillableProcess, proxy: FaultProxy, entry: ActiveRule) -> None:
    # A call that its sender gave up, for example because another fault delayed it, is never held.
    with suppress(TimeoutError):
        await asyncio.wait_for(entry.held.wait(), HELD_SECONDS)
    # Other writes of the process may be waiting in the proxy: none of them may pass after its death.
    blocked = proxy.add(Rule(entry.rule.match, Drop()))
    await kill(process)
    proxy.cut(entry.rule.match)
    await proxy.until_idle(entry.rule.match)
    proxy.remove(blocked)
