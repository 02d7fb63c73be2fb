"""Our counters against those of the metrics library: the scraped pages must be equal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from steward.runtime.observability.fast_metrics import CounterFamily, HistogramFamily, MetricDescription
from steward.runtime.observability.metrics import Metrics

LABELS = ("name", "controller")
BOUNDS = (1e-08, 0.005, 1.0, 60.0)
AMOUNTS = (0.0, 1e-08, 0.5, 1.0, 1.5, 60.0, 3600.0)


def library_page() -> CollectorRegistry:
    registry = CollectorRegistry()
    counter = Counter("things_total", "Things.", LABELS, registry=registry)
    histogram = Histogram("things_seconds", "How long.", LABELS, buckets=BOUNDS, registry=registry)
    counter.labels("a", "b").inc()
    counter.labels("unseen", "c")
    for amount in AMOUNTS:
        histogram.labels("a", "b").observe(amount)
    return registry


def our_page() -> CollectorRegistry:
    registry = CollectorRegistry()
    tallies = CounterFamily(MetricDescription("things_total", "Things.", LABELS), registry)
    spreads = HistogramFamily(MetricDescription("things_seconds", "How long.", LABELS), BOUNDS, registry)
    tallies.labels("a", "b").inc()
    tallies.labels("unseen", "c")
    for amount in AMOUNTS:
        spreads.labels("a", "b").observe(amount)
    return registry


@pytest.mark.parametrize("written", [generate_latest, generate_openmetrics])
def test_a_page_equals_that_of_the_library_byte_for_byte(
    written: Callable[[CollectorRegistry], bytes],
) -> None:
    assert written(our_page()) == written(library_page())


def test_the_same_labels_give_the_same_counter() -> None:
    tallies = CounterFamily(MetricDescription("things_total", "Things.", LABELS), CollectorRegistry())
    assert tallies.labels("a", "b") is tallies.labels("a", "b")


def test_a_metric_name_can_be_registered_once() -> None:
    registry = Metrics().registry
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        Counter("workqueue_adds_total", "Another.", registry=registry)
