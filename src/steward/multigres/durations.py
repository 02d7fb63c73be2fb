"""Durations as Go spells them, since the annotations are older than Steward: `30s`, `1m30s`, `500ms`. Pure."""

import re

_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)", re.ASCII)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds; raises ValueError for what is no duration, a bare number other than 0 included."""
    stripped = text.strip()
    if stripped == "0":
        return 0.0
    parts = _PART.findall(stripped)
    if not parts or "".join(number + unit for number, unit in parts) != stripped:
        raise ValueError(f"{text!r} is no duration")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def show_duration(seconds: float) -> str:
    """As Go would: `30s`, `1m0s`, `1h0m0s`, `500ms`. What is shown is read back as the same duration."""
    milliseconds = round(seconds * 1000)
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds / 1000, 60)
    hours, minutes = divmod(int(minutes), 60)
    shown = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{shown}{rest:g}s"
