"""Intervals as the API spells them: a number and s, m or h."""

import re
from typing import Final

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
SHORTEST_SYNC: Final = 1.0


def seconds_of(interval: str) -> float:
    """Seconds; ValueError for what is no interval."""
    found = re.fullmatch(r"([0-9]+)(s|m|h)", interval, re.ASCII)
    if found is None:
        raise ValueError(f"{interval!r} is no interval: write a number and s, m or h, as in 30s")
    return float(int(found[1]) * _SECONDS[found[2]])


def sync_seconds(interval: str) -> float:
    """How often to read. `0s` would be a query without end."""
    return max(SHORTEST_SYNC, seconds_of(interval))
