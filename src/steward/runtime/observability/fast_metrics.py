"""Counters and histograms for what happens thousands of times a second.

The metrics library takes a lock, and checks twice whether a child may be counted on, for every count; here one thread
counts, the event loop's, so an addition is enough. What is counted becomes the library's families when somebody looks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

Values = tuple[str, ...]
"""Of the labels, in their order."""


class Described(NamedTuple):
    name: str
    documentation: str
    labels: Values


class Tally:
    """Goes up by one."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def inc(self) -> None:
        self.count += 1


class Spread:
    """How often an amount lay between which bounds."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, amount: float) -> None:
        self.counts[bisect_left(self.bounds, amount)] += 1
        self.total += amount


class Tallies(Collector):
    """One counter by its labels."""

    def __init__(self, described: Described, registry: CollectorRegistry) -> None:
        self._described = described
        self._tallies: dict[Values, Tally] = {}
        registry.register(self)

    def labels(self, *values: str) -> Tally:
        return self._tallies.setdefault(values, Tally())

    def describe(self) -> Iterable[CounterMetricFamily]:
        name, documentation, labels = self._described
        return (CounterMetricFamily(name, documentation, labels=labels),)

    def collect(self) -> Iterator[CounterMetricFamily]:
        for family in self.describe():
            for values, tally in self._tallies.items():
                family.add_metric(values, tally.count)
            yield family


class Spreads(Collector):
    """One histogram by its labels."""

    def __init__(self, described: Described, bounds: Sequence[float], registry: CollectorRegistry) -> None:
        self._described = described
        self._bounds = tuple(bounds)
        self._shown = [_shown(bound) for bound in (*bounds, inf)]
        self._spreads: dict[Values, Spread] = {}
        registry.register(self)

    def labels(self, *values: str) -> Spread:
        return self._spreads.setdefault(values, Spread(self._bounds))

    def describe(self) -> Iterable[HistogramMetricFamily]:
        name, documentation, labels = self._described
        return (HistogramMetricFamily(name, documentation, labels=labels),)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        for family in self.describe():
            for values, spread in self._spreads.items():
                buckets = list(zip(self._shown, accumulate(spread.counts), strict=True))
                family.add_metric(values, buckets, spread.total)
            yield family


def _shown(bound: float) -> str:
    text: str = floatToGoString(bound)  # type: ignore[no-untyped-call]
    return text
