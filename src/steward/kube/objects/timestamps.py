"""Timestamps of the Kubernetes API: RFC 3339, UTC, whole seconds."""

from datetime import UTC, datetime


def to_timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_timestamp(text: str) -> float:
    """Seconds since the epoch; ValueError for text that is no timestamp."""
    return datetime.fromisoformat(text).timestamp()
