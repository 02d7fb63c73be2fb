"""How long ago something was, as people say it."""

from __future__ import annotations

import calendar
import time

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def ago(stamp: str, now: float) -> str:
    """`3 min`; "" for what has no time."""
    if not stamp:
        return ""
    seconds = max(0, int(now - calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "0 s"
