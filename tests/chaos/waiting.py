"""Waits for conditions of a life."""

import asyncio
import time
from collections.abc import Awaitable, Callable


class LifeFailedError(Exception):
    """The life cannot go on; the message says why."""


async def eventually(problem: Callable[[], Awaitable[str]], what: str, seconds: float) -> None:
    """Wait until there is no problem; the last one is part of the message."""
    deadline = time.monotonic() + seconds
    while found := await problem():
        if time.monotonic() > deadline:
            raise LifeFailedError(f"waited {seconds:.0f} s for {what}: {found}")
        await asyncio.sleep(0.5)
