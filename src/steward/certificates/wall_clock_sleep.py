"""A long rest that ends early when there is news, or when somebody sets the clock.

A sleep is measured in monotonic time and certificates expire in wall time: after a machine was asleep, or its clock was
corrected, the moment that was planned for means nothing any more.
"""

import asyncio
from enum import Enum

from steward.kube.clock import Clock

GLANCE_SECONDS = 30.0
JUMP_SECONDS = 30.0
"""Clocks are nudged all the time; this is more than that."""


class Woken(Enum):
    IN_TIME = "the time has come"
    BY_NEWS = "something happened"
    BY_CLOCK = "the wall clock was set"


async def rest(clock: Clock, seconds: float, news: asyncio.Event) -> Woken:
    end, apart = clock.monotonic() + seconds, _apart(clock)
    while (left := end - clock.monotonic()) > 0:
        await _sleep_or(clock, min(left, GLANCE_SECONDS), news)
        if news.is_set():
            return Woken.BY_NEWS
        if abs(_apart(clock) - apart) > JUMP_SECONDS:
            return Woken.BY_CLOCK
    return Woken.IN_TIME


def _apart(clock: Clock) -> float:
    return clock.now() - clock.monotonic()


async def _sleep_or(clock: Clock, seconds: float, news: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(clock.sleep(seconds)), asyncio.ensure_future(news.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
