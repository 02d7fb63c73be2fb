"""time.Duration as nanoseconds: parsing, printing, rounding."""

import re

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.strconv import MAX_INT64, MIN_INT64
from steward.gotemplate.values.escapes import Escapes

NANOSECOND = 1
MICROSECOND = 1000
MILLISECOND = 1000 * MICROSECOND
SECOND = 1000 * MILLISECOND
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

_UNITS = {
    "ns": NANOSECOND,
    "us": MICROSECOND,
    "\u00b5s": MICROSECOND,
    "\u03bcs": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_PIECE = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?")
_UNIT = re.compile(r"[^.0-9]*")
_MAGNITUDE_LIMIT = 1 << 63


def parse_duration(text: str) -> int:
    """Nanoseconds of texts such as `1h30m`, `-1.5s`."""
    body = text[1:] if text[:1] in ("+", "-") else text
    negative = text[:1] == "-"
    if body == "0":
        return 0
    if not body:
        raise _invalid(text)
    total, at = 0, len(text) - len(body)
    while at < len(text):
        nanoseconds, at = _piece(text, at)
        total += nanoseconds
        if total > _MAGNITUDE_LIMIT:
            raise _invalid(text)
    if not negative and total > MAX_INT64:
        raise _invalid(text)
    return -total if negative else total


def _invalid(text: str) -> GoError:
    return GoError(f"time: invalid duration {quote_time(text)}")


def _piece(text: str, start: int) -> tuple[int, int]:
    """The nanoseconds of one number with its unit, and the place after."""
    found = _PIECE.match(text, start)
    if found is None or not (found.group(1) or found.group(3)):
        raise _invalid(text)
    whole = _leading_int(found.group(1), text)
    unit = _UNIT.match(text, found.end()).group()  # type: ignore[union-attr]
    if not unit:
        raise GoError(f"time: missing unit in duration {quote_time(text)}")
    scale = _UNITS.get(unit)
    if scale is None:
        raise GoError(f"time: unknown unit {quote_time(unit)} in duration {quote_time(text)}")
    if whole > _MAGNITUDE_LIMIT // scale:
        raise _invalid(text)
    nanoseconds = whole * scale + _fraction(found.group(3) or "", scale)
    if nanoseconds > _MAGNITUDE_LIMIT:
        raise _invalid(text)
    return nanoseconds, found.end() + len(unit)


def _leading_int(digits: str, text: str) -> int:
    significant = digits.lstrip("0")
    if len(significant) > 19 or int(significant or 0) > _MAGNITUDE_LIMIT:
        raise _invalid(text)
    return int(significant or 0)


def _fraction(digits: str, scale: int) -> int:
    """Go multiplies in float64, and stops reading digits once they would overflow."""
    value, power = 0, 1.0
    for digit in digits:
        if value > MAX_INT64 // 10 or value * 10 + int(digit) > _MAGNITUDE_LIMIT:
            break
        value = value * 10 + int(digit)
        power *= 10
    return int(float(value) * (float(scale) / power)) if value else 0


def quote_time(text: str) -> str:
    """The time package's own quoting: only quotes, backslashes and what is not printable ASCII are escaped."""
    return f'"{text.translate(_ESCAPES)}"'


def _escaped(char: str) -> str:
    if char in ('"', "\\"):
        return "\\" + char
    if " " <= char < "\x80":
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


_ESCAPES = Escapes(_escaped)


def format_duration(nanoseconds: int) -> str:
    """As Duration.String: `1h30m0s`, `1.5s`, `2ms`, `0s`."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if size == 0:
        return "0s"
    if size < SECOND:
        return sign + _below_second(size)
    seconds, rest = divmod(size, SECOND)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{seconds}{_decimals(rest, 9)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return sign + (f"{hours}h{text}" if hours else text)


def _below_second(size: int) -> str:
    if size < MICROSECOND:
        return f"{size}ns"
    if size < MILLISECOND:
        return f"{size // MICROSECOND}{_decimals(size % MICROSECOND, 3)}\u00b5s"
    return f"{size // MILLISECOND}{_decimals(size % MILLISECOND, 6)}ms"


def _decimals(rest: int, places: int) -> str:
    digits = f"{rest:0{places}d}".rstrip("0")
    return "." + digits if digits else ""


def truncate_duration(nanoseconds: int, unit: int) -> int:
    """Toward zero, to a multiple of the unit."""
    if unit <= 0:
        return nanoseconds
    rest = abs(nanoseconds) % unit
    return nanoseconds + rest if nanoseconds < 0 else nanoseconds - rest


def round_duration(nanoseconds: int, unit: int) -> int:
    """To the nearest multiple of the unit, halves away from zero, held at the ends of int64."""
    if unit <= 0:
        return nanoseconds
    rest = abs(nanoseconds) % unit
    size = abs(nanoseconds) - rest + (unit if rest + rest >= unit else 0)
    return max(MIN_INT64, -size) if nanoseconds < 0 else min(MAX_INT64, size)
