"""The figures that existing dashboards know: controller_runtime_*, workqueue_*, rest_client_*, process_*.

Labelled children are looked up once, when a controller starts, and kept: a reconcile then pays for increments alone.
What can be read at scrape time (depth, work in hand) is read then and costs a reconcile nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from steward.runtime.controller.workqueue import WorkQueue
from steward.runtime.observability.fast_metrics import Described, Spread, Spreads, Tallies, Tally

RESULTS = ("success", "error", "requeue", "requeue_after")

RECONCILE_SECONDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
)
QUEUE_SECONDS = tuple(10.0**exponent for exponent in range(-8, 4))

# A `_created` series beside each counter doubles the page and no dashboard reads it.
disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """The children of one queue; what `queue.QueueWatcher` asks for."""

    adds: Tally
    queue_duration: Spread
    work_duration: Spread
    retries: Tally

    def added(self) -> None:
        self.adds.inc()

    def taken(self, waited: float) -> None:
        self.queue_duration.observe(waited)

    def finished(self, worked: float) -> None:
        self.work_duration.observe(worked)

    def retried(self) -> None:
        self.retries.inc()


@dataclass(frozen=True, slots=True)
class ControllerFigures:
    """The children of one controller."""

    results: dict[str, Tally]
    errors: Tally
    panics: Tally
    seconds: Spread


class Metrics:
    """Every metric of one process, in one registry."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._declare_controllers()
        self._declare_queues()
        self.requests = self._tallies(
            "rest_client_requests_total", "Requests to the API server.", "code", "method", "host"
        )
        self._answered: dict[tuple[str, str, str], Tally] = {}
        self.leader = self._gauge("leader_election_master_status", "1 on the replica that leads.", "name")
        self.events = self._counter("steward_events_total", "Events, by what became of them.", "result")
        self.trigger_errors = self._counter(
            "steward_trigger_errors_total", "Changes whose mapping to keys failed.", "controller"
        )

    def _tallies(self, name: str, documentation: str, *labels: str) -> Tallies:
        return Tallies(Described(name, documentation, labels), self.registry)

    def _counter(self, name: str, documentation: str, *labels: str) -> Counter:
        return Counter(name, documentation, labels, registry=self.registry)

    def _gauge(self, name: str, documentation: str, *labels: str) -> Gauge:
        return Gauge(name, documentation, labels, registry=self.registry)

    def _declare_controllers(self) -> None:
        prefix = "controller_runtime_"
        self._reconciles = self._tallies(
            f"{prefix}reconcile_total", "Reconciles, by result.", "controller", "result"
        )
        self._errors = self._tallies(
            f"{prefix}reconcile_errors_total", "Reconciles that failed.", "controller"
        )
        self._panics = self._tallies(
            f"{prefix}reconcile_panics_total", "Reconciles that failed by a fault in the code.", "controller"
        )
        self._seconds = Spreads(
            Described(f"{prefix}reconcile_time_seconds", "How long a reconcile took.", ("controller",)),
            RECONCILE_SECONDS,
            self.registry,
        )
        self._active = self._gauge(f"{prefix}active_workers", "Workers that hold a key.", "controller")
        self._workers = self._gauge(
            f"{prefix}max_concurrent_reconciles", "Workers of a controller.", "controller"
        )

    def _declare_queues(self) -> None:
        labels = ("name", "controller")
        self._depth = self._gauge("workqueue_depth", "Keys that are queued.", *labels)
        self._adds = self._tallies("workqueue_adds_total", "Keys that were queued.", *labels)
        self._retries = self._tallies(
            "workqueue_retries_total", "Keys that came back after a failure.", *labels
        )
        self._unfinished = self._gauge(
            "workqueue_unfinished_work_seconds", "Sum of the ages of the keys in hand.", *labels
        )
        self._longest = self._gauge(
            "workqueue_longest_running_processor_seconds", "Age of the oldest key in hand.", *labels
        )
        self._queue_duration = self._queue_histogram("queue_duration", "How long a key was queued.")
        self._work_duration = self._queue_histogram("work_duration", "How long a key was worked on.")

    def _queue_histogram(self, noun: str, documentation: str) -> Spreads:
        described = Described(f"workqueue_{noun}_seconds", documentation, ("name", "controller"))
        return Spreads(described, QUEUE_SECONDS, self.registry)

    def of_controller(self, name: str, workers: int) -> ControllerFigures:
        self._workers.labels(name).set(workers)
        return ControllerFigures(
            results={result: self._reconciles.labels(name, result) for result in RESULTS},
            errors=self._errors.labels(name),
            panics=self._panics.labels(name),
            seconds=self._seconds.labels(name),
        )

    def of_queue(self, name: str) -> QueueFigures:
        return QueueFigures(
            adds=self._adds.labels(name, name),
            queue_duration=self._queue_duration.labels(name, name),
            work_duration=self._work_duration.labels(name, name),
            retries=self._retries.labels(name, name),
        )

    def read_at_scrape(self, name: str, queue: WorkQueue) -> None:
        """Depth, workers at work and the ages of the keys in hand are asked of the queue when somebody looks."""
        self._depth.labels(name, name).set_function(lambda: queue.depth)
        self._active.labels(name).set_function(lambda: queue.working)
        self._unfinished.labels(name, name).set_function(lambda: sum(queue.work_ages()))
        self._longest.labels(name, name).set_function(lambda: max(queue.work_ages(), default=0.0))

    def request_answered(self, method: str, host: str, code: str, seconds: float) -> None:
        """The transport's `on_request` hook."""
        answered = (code, method, host)
        child = self._answered.get(answered)
        if child is None:
            child = self._answered[answered] = self.requests.labels(*answered)
        child.inc()
