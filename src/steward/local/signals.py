"""Runs work until it is done or a signal asks for its end, and lets it end in order either way."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """A signal came, and the work has ended in order."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to. The first signal cancels it; later ones change nothing, the end is on its way.

    SIGTERM and SIGHUP too, which by themselves end a process where it stands: what it had started would live on.
    """
    return asyncio.run(_until_interrupted(work))


async def _until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, _end, task)
    try:
        return await task
    except asyncio.CancelledError:
        raise Interrupted from None


def _end(task: asyncio.Task[Any]) -> None:
    # A second cancellation would end the ending.
    if not task.cancelling():
        task.cancel()
