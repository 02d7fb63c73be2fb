"""Formats the age of a timestamp."""

from __future__ import annotations

import calendar
import time

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def format_age(stamp: str, now: float) -> str:
    """For example `3 min`; "" for an empty timestamp."""
    if not stamp:
        return ""
    seconds = max(0, int(now - calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "0 s"
