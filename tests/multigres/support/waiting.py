"""Waits for conditions, and runs coroutines in synchronous tests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tests.support.waiting import poll

LIMIT_SECONDS = 240.0


def eventually(
    look: Callable[[], Any],
    what: str,
    limit: float = LIMIT_SECONDS,
    explain: Callable[[], str] = lambda: "",
) -> Any:
    """Waits for a condition; the limit is for a broken operator, not for a slow machine. `explain` describes the state
    that was reached instead."""
    if found := poll(look, limit):
        return found
    pytest.fail(f"waited {limit:.0f} s in vain for {what}\n{explain()}")


T = TypeVar("T")


def run_async(work: Awaitable[T]) -> T:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
