"""How long a review may take: a little less than the API server waits. Pure.

The API server says how long it waits in the query of the call (`?timeout=10s`, a Go duration). An answer that comes
later is not heard, and the user is told of a timeout instead of what is wrong.
"""

import re

DEFAULT = 9.0
LONGEST_MARGIN = 1.0
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|us|µs|ns|s)")


def seconds_to_answer(timeout: str | None) -> float:
    """From the query's timeout; the default fits a webhook that leaves timeoutSeconds at 10."""
    asked = parse_duration(timeout or "")
    return asked - min(LONGEST_MARGIN, asked / 10) if asked else DEFAULT


def parse_duration(text: str) -> float | None:
    """A Go duration in seconds; None for what is none, or is not positive."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts) or None
