"""Times as the API writes them: RFC 3339, UTC, whole seconds."""

from datetime import UTC, datetime


def to_timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_timestamp(text: str) -> float:
    """Seconds since the epoch; raises ValueError for what is no time."""
    return datetime.fromisoformat(text).timestamp()
