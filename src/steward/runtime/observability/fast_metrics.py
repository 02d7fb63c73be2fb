"""Counters and histograms for events that happen thousands of times a second.

`prometheus_client` takes a lock and checks the child twice for every increment. Here only the event loop's thread
counts, so an addition is enough. The values become metric families of the library at scrape time.
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

LabelValues = tuple[str, ...]
"""Values of the labels, in the order of the label names."""


class MetricDescription(NamedTuple):
    name: str
    documentation: str
    labels: LabelValues


class FastCounter:
    """A counter without a lock."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def inc(self) -> None:
        self.count += 1


class FastHistogram:
    """A histogram without a lock."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, amount: float) -> None:
        self.counts[bisect_left(self.bounds, amount)] += 1
        self.total += amount


class CounterFamily(Collector):
    """A counter with labels, as a Prometheus collector."""

    def __init__(self, description: MetricDescription, registry: CollectorRegistry) -> None:
        self._description = description
        self._counters: dict[LabelValues, FastCounter] = {}
        registry.register(self)

    def labels(self, *values: str) -> FastCounter:
        return self._counters.setdefault(values, FastCounter())

    def describe(self) -> Iterable[CounterMetricFamily]:
        name, documentation, labels = self._description
        return (CounterMetricFamily(name, documentation, labels=labels),)

    def collect(self) -> Iterator[CounterMetricFamily]:
        for family in self.describe():
            for values, counter in self._counters.items():
                family.add_metric(values, counter.count)
            yield family


class HistogramFamily(Collector):
    """A histogram with labels, as a Prometheus collector."""

    def __init__(
        self, description: MetricDescription, bounds: Sequence[float], registry: CollectorRegistry
    ) -> None:
        self._description = description
        self._bounds = tuple(bounds)
        self._bound_labels = [_bound_label(bound) for bound in (*bounds, inf)]
        self._histograms: dict[LabelValues, FastHistogram] = {}
        registry.register(self)

    def labels(self, *values: str) -> FastHistogram:
        return self._histograms.setdefault(values, FastHistogram(self._bounds))

    def describe(self) -> Iterable[HistogramMetricFamily]:
        name, documentation, labels = self._description
        return (HistogramMetricFamily(name, documentation, labels=labels),)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        for family in self.describe():
            for values, histogram in self._histograms.items():
                buckets = list(zip(self._bound_labels, accumulate(histogram.counts), strict=True))
                family.add_metric(values, buckets, histogram.total)
            yield family


def _bound_label(bound: float) -> str:
    text: str = floatToGoString(bound)  # type: ignore[no-untyped-call]
    return text
