"""Waits for conditions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_POLL_SECONDS = 0.2


def eventually(condition: Callable[[], T], what: str | Callable[[], str], seconds: float = 60.0) -> T:
    """The first true result of `condition`. `what` describes it, and may say what was seen last."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() >= deadline:
            description = what if isinstance(what, str) else what()
            raise AssertionError(f"{description} did not happen within {seconds:.0f} s")
        time.sleep(_POLL_SECONDS)
    return result
