"""A long sleep that ends early when an event is set or the wall clock changes.

A sleep is measured in monotonic time, but certificates expire in wall-clock time: after a machine was suspended or its
clock was corrected, the planned time is wrong.
"""

import asyncio
from enum import Enum

from steward.kube.clock import Clock

POLL_SECONDS = 30.0
JUMP_SECONDS = 30.0
"""More than the small corrections that clocks get all the time."""


class WakeReason(Enum):
    ELAPSED = "the time has elapsed"
    INTERRUPTED = "the event was set"
    CLOCK_CHANGED = "the wall clock was set"


async def interruptible_sleep(clock: Clock, seconds: float, interrupt: asyncio.Event) -> WakeReason:
    end, offset = clock.monotonic() + seconds, _wall_clock_offset(clock)
    while (left := end - clock.monotonic()) > 0:
        await _sleep_or_interrupt(clock, min(left, POLL_SECONDS), interrupt)
        if interrupt.is_set():
            return WakeReason.INTERRUPTED
        if abs(_wall_clock_offset(clock) - offset) > JUMP_SECONDS:
            return WakeReason.CLOCK_CHANGED
    return WakeReason.ELAPSED


def _wall_clock_offset(clock: Clock) -> float:
    return clock.now() - clock.monotonic()


async def _sleep_or_interrupt(clock: Clock, seconds: float, interrupt: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(clock.sleep(seconds)), asyncio.ensure_future(interrupt.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
