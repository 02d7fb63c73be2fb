"""How many reviews were answered, how, and how fast: the two metrics that an operator's dashboards know."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from steward.admission.server import Result, Reviewed

SUCCESS, ERROR = "success", "error"


class WebhookFigures:
    """Under the operator's own prefix. A refusal is a success: only a review without a verdict is an error."""

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

    def count(self, reviewed: Reviewed) -> None:
        result = ERROR if reviewed.result is Result.ERROR else SUCCESS
        self._requests.labels(reviewed.work.value, reviewed.kind, result).inc()
        self._seconds.labels(reviewed.work.value, reviewed.kind).observe(reviewed.seconds)
