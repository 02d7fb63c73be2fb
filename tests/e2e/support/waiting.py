"""Waits for conditions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_POLL_SECONDS = 0.2


def eventually(condition: Callable[[], T], what: str, seconds: float = 60.0) -> T:
    """The first true result of `condition`."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:.0f} s"
        time.sleep(_POLL_SECONDS)
    return result
