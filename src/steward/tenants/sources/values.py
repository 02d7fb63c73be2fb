"""Converts values of databases to the texts that templates see. Pure.

Everything is text, as in the Go operator: NULL is empty, times are RFC 3339, and only the template functions `int`,
`float` and `bool` make numbers of it. Whether a row is active is decided on the text, so that all databases agree.
"""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

TRUE_WORDS: Final = frozenset({"1", "true", "TRUE", "True", "yes", "YES", "Yes"})


class UnreadableValue(ValueError):
    """A value that cannot be converted to text; the message says why."""


def is_active(text: str) -> bool:
    """Exactly these texts: `on`, `Y` or ` 1` are typing errors more often than intended."""
    return text in TRUE_WORDS


def to_text(value: Any) -> str:
    """UnreadableValue for what is not UTF-8."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _text(value)
    format_value = _FORMATS.get(type(value))
    if format_value is not None:
        return format_value(value)
    return _other_to_text(value)


def _other_to_text(value: Any) -> str:
    for kind, format_value in _FORMATS.items():
        if isinstance(value, kind):
            return format_value(value)
    return str(value)


def _text(value: str) -> str:
    """A text with a half of a surrogate pair cannot be encoded."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise UnreadableValue(f"is not UTF-8 (character {error.start})") from None
    return value


def _bytes(value: bytes) -> str:
    try:
        return bytes(value).decode()
    except UnicodeDecodeError as error:
        raise UnreadableValue(f"is not UTF-8 (byte {error.start})") from None


def _float(value: float) -> str:
    """As databases print it: 1, not 1.0."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _datetime(value: datetime) -> str:
    """RFC 3339 in UTC; a time without a zone is taken as UTC."""
    utc = value.astimezone(UTC) if value.tzinfo else value
    fraction = f".{utc.microsecond:06d}".rstrip("0") if utc.microsecond else ""
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}{fraction}Z"


def _timedelta(value: timedelta) -> str:
    """MySQL's TIME, which may exceed a day and be negative."""
    total = abs(value)
    seconds = total.days * 86400 + total.seconds
    fraction = f".{total.microseconds:06d}".rstrip("0") if total.microseconds else ""
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"
    return f"-{clock}" if value < timedelta() else clock


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=to_text)


# The order matters for subclasses: bool before int, datetime before date.
_FORMATS: Final[dict[type, Callable[[Any], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    float: _float,
    Decimal: lambda value: f"{value:f}" if value.is_finite() else str(value),
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    datetime: _datetime,
    date: lambda value: value.isoformat(),
    timedelta: _timedelta,
    list: _json,
    tuple: _json,
    dict: _json,
    set: lambda value: ",".join(sorted(map(str, value))),
}
