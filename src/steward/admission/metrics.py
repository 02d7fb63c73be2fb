"""Metrics of the webhooks: number and duration of reviews."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from steward.admission.server import ReviewRecord, ReviewResult

SUCCESS, ERROR = "success", "error"


class WebhookMetrics:
    """With the operator's prefix. A denial counts as success; only a review without a response is an error."""

    def __init__(self, prefix: str, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            f"{prefix}_webhook_request_total",
            "Admission reviews, by result.",
            ("operation", "resource", "result"),
            registry=registry,
        )
        self._seconds = Histogram(
            f"{prefix}_webhook_request_duration_seconds",
            "How long an admission review took.",
            ("operation", "resource"),
            registry=registry,
        )

    def count(self, record: ReviewRecord) -> None:
        result = ERROR if record.result is ReviewResult.ERROR else SUCCESS
        self._requests.labels(record.purpose.value, record.kind, result).inc()
        self._seconds.labels(record.purpose.value, record.kind).observe(record.seconds)
