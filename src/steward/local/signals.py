"""Runs a coroutine until it is done or a signal arrives, and lets it clean up in both cases."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """A signal arrived, and the coroutine has finished its clean-up."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` and return its result. The first signal cancels it; later ones are ignored.

    SIGTERM and SIGHUP are handled too: their default action would leave the started processes running.
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
    # A second cancellation would interrupt the clean-up.
    if not task.cancelling():
        task.cancel()
