"""Figures with their floor, measured in the same run, and their target.

Comparisons use pairs. In each round all candidates run one after the other, so a ratio within a round compares
measurements of the same time; the median of these ratios counts. A ratio of two medians could compare a fast round of
one candidate with a slow round of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median


class Measure(Enum):
    VALUE = "value"
    RATIO = "ratio"


class Side(Enum):
    AT_LEAST = "≥"
    AT_MOST = "≤"


@dataclass(frozen=True)
class Target:
    measure: Measure
    side: Side
    bound: float

    def is_met_by(self, figure: Figure) -> bool:
        reached = figure.value if self.measure is Measure.VALUE else figure.ratio
        if reached is None:
            return False
        return reached >= self.bound if self.side is Side.AT_LEAST else reached <= self.bound

    def __str__(self) -> str:
        of_floor = " × floor" if self.measure is Measure.RATIO else ""
        return f"{self.side.value} {self.bound:,g}{of_floor}"


def at_least(bound: float) -> Target:
    return Target(Measure.VALUE, Side.AT_LEAST, bound)


def at_most(bound: float) -> Target:
    return Target(Measure.VALUE, Side.AT_MOST, bound)


def at_least_of_floor(bound: float) -> Target:
    return Target(Measure.RATIO, Side.AT_LEAST, bound)


def at_most_of_floor(bound: float) -> Target:
    return Target(Measure.RATIO, Side.AT_MOST, bound)


@dataclass(frozen=True)
class Figure:
    """A measured value; `floor` is None for a figure that is itself a floor."""

    name: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    target: Target | None = None

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "met" if self.target.is_met_by(self) else "missed"


def with_floor(name: str, value: float, unit: str, floor: float, target: Target | None = None) -> Figure:
    """A figure and a floor that were each measured once."""
    return Figure(name, value, unit, floor, ratio(value, floor), target)


def with_paired_floors(
    name: str, unit: str, ours: Sequence[float], floors: Sequence[float], target: Target | None = None
) -> Figure:
    """A figure of several rounds, with the floors of the same rounds."""
    ratios = [ratio(value, floor) for value, floor in zip(ours, floors, strict=True)]
    return Figure(name, median(ours), unit, median(floors), median(ratios), target)


def ratio(value: float, floor: float) -> float:
    return value / floor if floor else math.inf


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not exceeded by at least this share of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
