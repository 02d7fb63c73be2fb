"""How long a review may take, from the query of the API server's call."""

from steward.kube.objects.durations import parse_duration

DEFAULT_SECONDS = 9.0
"""For a webhook that leaves timeoutSeconds at 10."""
MAX_SECONDS = 29.0
"""For a webhook with timeoutSeconds at 30, the largest value that the API server accepts. Any client can write more."""
MAX_MARGIN_SECONDS = 1.0
BODY_SECONDS = 10.0
"""An API server sends a review at once; only clients that hold connections open need longer."""


def deadline_seconds(timeout: str | None) -> float:
    """A little less than the API server waits (`?timeout=10s`).

    The API server ignores a later response and shows its user a timeout instead of the problem.
    """
    try:
        seconds = parse_duration(timeout or "")
    except ValueError:
        return DEFAULT_SECONDS
    if not seconds > 0:
        return DEFAULT_SECONDS
    return min(MAX_SECONDS, seconds - min(MAX_MARGIN_SECONDS, seconds / 10))
