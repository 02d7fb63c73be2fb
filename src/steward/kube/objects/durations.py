"""Durations in Go's notation, as users write them in specs, annotations and flags: `30s`, `1m30s`, `500ms`. Pure.

The only parser of durations, except for templates, which have Go's own `time.Duration` (steward.gotemplate). Bounds are
the callers' business.
"""

import re
from typing import Final

_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)", re.ASCII)
_INTERVAL: Final = re.compile(r"\d+[smh]", re.ASCII)
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds of one or more numbers with units; ValueError for anything else, such as a number without a unit."""
    stripped = text.strip()
    if stripped == "0":
        return 0.0
    parts = _PART.findall(stripped)
    if not parts or "".join(number + unit for number, unit in parts) != stripped:
        raise ValueError(f"{text!r} is no duration")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def parse_interval(text: str) -> float:
    """Seconds of the narrower notation that API fields use: one whole number with s, m or h. Else ValueError."""
    if not _INTERVAL.fullmatch(text):
        raise ValueError(f"{text!r} is no interval: write a number and s, m or h, as in 30s")
    return parse_duration(text)


def format_duration(seconds: float) -> str:
    """As Go writes it: `30s`, `1m0s`, `1h0m0s`, `500ms`. `parse_duration` reads it back as the same duration."""
    milliseconds = round(seconds * 1000)
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, remainder = divmod(milliseconds / 1000, 60)
    hours, minutes = divmod(int(minutes), 60)
    larger_units = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{larger_units}{remainder:g}s"
