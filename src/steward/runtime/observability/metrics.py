"""The metrics that existing dashboards use: controller_runtime_*, workqueue_*, rest_client_*, process_*.

The children of a label set are looked up once, when a controller starts: a reconcile then only pays for increments.
Values that can be read at scrape time (queue depth, keys in process) are read then and cost a reconcile nothing.
Counters of our own, without the library's locks, were rejected: they save 4 µs of a reconcile that takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

RESULTS = ("success", "error", "requeue", "requeue_after")

RECONCILE_SECONDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
)
QUEUE_SECONDS = tuple(10.0**exponent for exponent in range(-8, 4))

# A `_created` series for each counter doubles the page, and no dashboard reads it.
disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class QueueMetrics:
    """The metrics of one queue; implements `workqueue.QueueObserver`."""

    adds: Counter
    queue_duration: Histogram
    work_duration: Histogram
    retries: Counter

    def added(self) -> None:
        self.adds.inc()

    def taken(self, waited: float) -> None:
        self.queue_duration.observe(waited)

    def finished(self, worked: float) -> None:
        self.work_duration.observe(worked)

    def retried(self) -> None:
        self.retries.inc()


@dataclass(frozen=True, slots=True)
class ControllerMetrics:
    """The metrics of one controller."""

    results: dict[str, Counter]
    errors: Counter
    panics: Counter
    seconds: Histogram


class QueueState(Protocol):
    """The part of a work queue that is read at scrape time."""

    @property
    def depth(self) -> int: ...

    @property
    def processing(self) -> int: ...

    def work_ages(self) -> list[float]: ...


class Metrics:
    """All metrics of a process, in one registry."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._declare_controllers()
        self._declare_queues()
        self.requests = self._counter(
            "rest_client_requests_total", "Requests to the API server.", "code", "method", "host"
        )
        self._request_counters: dict[tuple[str, str, str], Counter] = {}
        self.leader = self._gauge("leader_election_master_status", "1 on the replica that leads.", "name")
        self.events = self._counter("steward_events_total", "Events, by result.", "result")
        self.trigger_errors = self._counter(
            "steward_trigger_errors_total", "Changes whose mapping to keys failed.", "controller"
        )

    def _counter(self, name: str, documentation: str, *labels: str) -> Counter:
        return Counter(name, documentation, labels, registry=self.registry)

    def _histogram(self, name: str, documentation: str, bounds: Sequence[float], *labels: str) -> Histogram:
        return Histogram(name, documentation, labels, buckets=bounds, registry=self.registry)

    def _gauge(self, name: str, documentation: str, *labels: str) -> Gauge:
        return Gauge(name, documentation, labels, registry=self.registry)

    def _declare_controllers(self) -> None:
        prefix = "controller_runtime_"
        self._reconciles = self._counter(
            f"{prefix}reconcile_total", "Reconciles, by result.", "controller", "result"
        )
        self._errors = self._counter(
            f"{prefix}reconcile_errors_total", "Reconciles that failed.", "controller"
        )
        self._panics = self._counter(
            f"{prefix}reconcile_panics_total", "Reconciles that failed by a fault in the code.", "controller"
        )
        self._seconds = self._histogram(
            f"{prefix}reconcile_time_seconds", "How long a reconcile took.", RECONCILE_SECONDS, "controller"
        )
        self._active = self._gauge(f"{prefix}active_workers", "Workers that hold a key.", "controller")
        self._workers = self._gauge(
            f"{prefix}max_concurrent_reconciles", "Workers of a controller.", "controller"
        )

    def _declare_queues(self) -> None:
        labels = ("name", "controller")
        self._depth = self._gauge("workqueue_depth", "Keys that are queued.", *labels)
        self._adds = self._counter("workqueue_adds_total", "Keys that were queued.", *labels)
        self._retries = self._counter(
            "workqueue_retries_total", "Keys that came back after a failure.", *labels
        )
        self._unfinished = self._gauge(
            "workqueue_unfinished_work_seconds", "Sum of the ages of the keys in process.", *labels
        )
        self._longest = self._gauge(
            "workqueue_longest_running_processor_seconds", "Age of the oldest key in process.", *labels
        )
        self._queue_duration = self._queue_histogram("queue_duration", "How long a key was queued.")
        self._work_duration = self._queue_histogram("work_duration", "How long a key was worked on.")

    def _queue_histogram(self, noun: str, documentation: str) -> Histogram:
        name = f"workqueue_{noun}_seconds"
        return self._histogram(name, documentation, QUEUE_SECONDS, "name", "controller")

    def for_controller(self, name: str, workers: int) -> ControllerMetrics:
        self._workers.labels(name).set(workers)
        return ControllerMetrics(
            results={result: self._reconciles.labels(name, result) for result in RESULTS},
            errors=self._errors.labels(name),
            panics=self._panics.labels(name),
            seconds=self._seconds.labels(name),
        )

    def for_queue(self, name: str) -> QueueMetrics:
        return QueueMetrics(
            adds=self._adds.labels(name, name),
            queue_duration=self._queue_duration.labels(name, name),
            work_duration=self._work_duration.labels(name, name),
            retries=self._retries.labels(name, name),
        )

    def read_at_scrape(self, name: str, queue: QueueState) -> None:
        """Reads depth, active workers and the ages of keys in process from the queue at scrape time."""
        self._depth.labels(name, name).set_function(lambda: queue.depth)
        self._active.labels(name).set_function(lambda: queue.processing)
        self._unfinished.labels(name, name).set_function(lambda: sum(queue.work_ages()))
        self._longest.labels(name, name).set_function(lambda: max(queue.work_ages(), default=0.0))

    def count_request(self, method: str, host: str, code: str, seconds: float) -> None:
        """The transport's `on_request` hook."""
        labels = (code, method, host)
        child = self._request_counters.get(labels)
        if child is None:
            child = self._request_counters[labels] = self.requests.labels(*labels)
        child.inc()
