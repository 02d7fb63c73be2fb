"""How slow work tells what it is doing: an activity, how far it is, and the time spent so far.

The worker only reports; who shows it decides how often and in what form. `Lines` is for logs and pipes: one line
when an activity begins and one every `interval` seconds while it lasts. The live line for terminals is in `cli`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TextIO


@dataclass(frozen=True)
class Share:
    """How far an activity is: `done` of `total` things, or just `done` where the total is unknown."""

    done: int
    unit: str
    total: int | None = None

    def __str__(self) -> str:
        of_total = f" of {self.total:,}" if self.total is not None else ""
        return f"{self.done:,}{of_total} {self.unit}"


class Progress(Protocol):
    def report(self, activity: str, share: Share | None = None) -> None:
        """Say that `activity` is going on and how far it is. Cheap: called for every compiled package."""


class Silent:
    """For callers who show nothing."""

    def report(self, activity: str, share: Share | None = None) -> None:
        pass


@dataclass
class Lines:
    """One line per activity, and one every `interval` seconds while it lasts."""

    stream: TextIO
    interval: float = 15.0
    clock: Callable[[], float] = time.monotonic
    _activity: str = ""
    _began: float = 0.0
    _printed: float = field(default=0.0)

    def report(self, activity: str, share: Share | None = None) -> None:
        now = self.clock()
        if activity != self._activity:
            self._activity, self._began = activity, now
        elif now - self._printed < self.interval:
            return
        self._printed = now
        print(describe(activity, share, now - self._began), file=self.stream, flush=True)


def describe(activity: str, share: Share | None, seconds: float) -> str:
    """`building kwok: 120 of 900 packages (1 min 05 s)`"""
    parts = [activity if share is None else f"{activity}: {share}"]
    if seconds >= 1:
        parts.append(f"({spent(seconds)})")
    return " ".join(parts)


def spent(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
