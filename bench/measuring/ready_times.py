"""When each of many objects became ready: the first, the median, the ninth of ten, and the last.

The median and the ninth decile are judged as shares of the whole time, so a busy machine changes them little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.measuring.figures import Figure, Target, percentile, with_floor, with_paired_floors


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


def figures_of_rounds(rounds: Sequence[ReadyTimes], median_target: Target) -> list[Figure]:
    """Medians over the rounds; the floor of each is the whole time of its round."""
    wholes = [each.last for each in rounds]
    medians, ninths = ([percentile(each.times, share) for each in rounds] for share in (0.5, 0.9))
    return [
        with_paired_floors("… the first is ready after", "s", [each.first for each in rounds], wholes),
        with_paired_floors("… the median", "s", medians, wholes, median_target),
        with_paired_floors("… nine of ten", "s", ninths, wholes),
    ]


def figures_of_each_round(wholes: Sequence[float], floors: Sequence[float]) -> list[Figure]:
    """The whole time of each round beside its floor; none of a single round, which the median shows."""
    if len(wholes) == 1:
        return []
    return [
        with_floor(f"… round {number}", whole, "s", floor)
        for number, (whole, floor) in enumerate(zip(wholes, floors, strict=True), start=1)
    ]
