"""How often a deletion had to wait for dependents, and how long graceful shutdowns take."""

from prometheus_client import CollectorRegistry, Counter, Histogram

SECONDS = (1, 5, 10, 30, 60, 120, 300)


class DeletionFigures:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._blocked = Counter(
            "multigres_deletion_blocked_total",
            "Number of times deletion was blocked due to dependencies",
            ("kind", "namespace"),
            registry=registry,
        )
        self._seconds = Histogram(
            "multigres_graceful_shutdown_duration_seconds",
            "Time taken for graceful shutdown before finalizer removal",
            ("kind",),
            buckets=SECONDS,
            registry=registry,
        )

    def blocked(self, kind: str, namespace: str) -> None:
        self._blocked.labels(kind, namespace).inc()

    def ended(self, kind: str, seconds: float) -> None:
        self._seconds.labels(kind).observe(seconds)
