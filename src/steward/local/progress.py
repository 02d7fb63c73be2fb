"""Progress of slow work: the current activity, how much of it is done, and the time it has taken.

The worker reports; the Progress object decides how often and in what form to print. `ProgressLines` is for logs and
pipes; the live line for terminals is in `cli/terminal`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TextIO


@dataclass(frozen=True)
class ProgressCount:
    """How much of an activity is done: `done` of `total` units, or only `done` if the total is unknown."""

    done: int
    unit: str
    total: int | None = None

    def __str__(self) -> str:
        of_total = f" of {self.total:,}" if self.total is not None else ""
        return f"{self.done:,}{of_total} {self.unit}"


class Progress(Protocol):
    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        """Report the current activity and its progress. Must be cheap: it is called for every compiled package."""


class SilentProgress:
    """Prints nothing."""

    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        pass


@dataclass
class ProgressLines:
    """Prints one line when an activity begins, and one every `interval` seconds while it lasts."""

    stream: TextIO
    interval: float = 15.0
    clock: Callable[[], float] = time.monotonic
    _activity: str = ""
    _began: float = 0.0
    _printed: float = field(default=0.0)

    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        now = self.clock()
        if activity != self._activity:
            self._activity, self._began = activity, now
        elif now - self._printed < self.interval:
            return
        self._printed = now
        print(describe_progress(activity, share, now - self._began), file=self.stream, flush=True)


def describe_progress(activity: str, share: ProgressCount | None, seconds: float) -> str:
    """`building kwok: 120 of 900 packages (1 min 05 s)`"""
    parts = [activity if share is None else f"{activity}: {share}"]
    if seconds >= 1:
        parts.append(f"({describe_duration(seconds)})")
    return " ".join(parts)


def describe_duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
