"""Waits for what an operator does."""

import time
from collections.abc import Callable
from typing import Any

from tests.support.operator_process import fail_if_an_operator_has_ended


def poll(look: Callable[[], Any], limit_seconds: float) -> Any:
    """The first true value, or the last value after the limit. Fails if an operator of the test has crashed."""
    began = time.monotonic()
    while not (found := look()):
        fail_if_an_operator_has_ended()
        waited = time.monotonic() - began
        if waited > limit_seconds:
            break
        time.sleep(pause(waited))
    return found


def pause(waited_seconds: float) -> float:
    """Seconds until the next look. Most waits are short; in the others, looking costs the API server more than it saves
    the test."""
    if waited_seconds < 0.5:
        return 0.1
    return 0.4 if waited_seconds < 5.0 else 0.8
