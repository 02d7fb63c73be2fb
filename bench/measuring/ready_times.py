"""When each of many objects became ready: the first, the median, the ninth of ten, and the last.

The median and the ninth decile are judged as shares of the whole time, so a busy machine changes them little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench.measuring.figures import Figure, Target, percentile, with_floor


@dataclass(frozen=True)
class ReadyTimes:
    """Seconds after the start, of at least one object."""

    times: tuple[float, ...]

    @classmethod
    def since(cls, began: float, moments: Iterable[float]) -> ReadyTimes:
        return cls(tuple(sorted(moment - began for moment in moments)))

    @property
    def first(self) -> float:
        return self.times[0]

    @property
    def last(self) -> float:
        return self.times[-1]

    def figures(self, median_target: Target) -> list[Figure]:
        """The floor of each is the whole time."""
        return [
            with_floor("… the first is ready after", self.first, "s", self.last),
            with_floor("… the median", percentile(self.times, 0.5), "s", self.last, median_target),
            with_floor("… nine of ten", percentile(self.times, 0.9), "s", self.last),
        ]
