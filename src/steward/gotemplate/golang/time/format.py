"""time.Time.Format: one small function for each piece of the reference time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from steward.gotemplate.golang.time.calendar import (
    MONTHS,
    WEEKDAYS,
    Civil,
    civil_from_seconds,
    days_from_civil,
    weekday,
    year_day,
)
from steward.gotemplate.golang.time.layout import chunks, is_fraction
from steward.gotemplate.golang.time.zones import Zone


class Moment(NamedTuple):
    """What formatting needs to know of a time."""

    civil: Civil
    nanosecond: int
    zone: Zone


def moment(unix: int, nanosecond: int, zone: Zone) -> Moment:
    return Moment(civil_from_seconds(unix + zone.offset), nanosecond, zone)


def format_time(when: Moment, layout: str) -> str:
    """The layout with every piece replaced."""
    out: list[str] = []
    for literal, piece in chunks(layout):
        out.append(literal)
        if is_fraction(piece):
            out.append(fraction(when.nanosecond, piece))
        elif piece:
            out.append(_PIECES[piece](when))
    return "".join(out)


def fraction(nanosecond: int, piece: str) -> str:
    """`.000` always has that many digits; `.999` drops trailing zeros."""
    digits = f"{nanosecond:09d}"[: len(piece) - 1].ljust(min(len(piece) - 1, 9), "0")
    if piece[1] == "0":
        return piece[0] + digits
    digits = digits.rstrip("0")
    return piece[0] + digits if digits else ""


def padded(number: int, width: int) -> str:
    """At least so many digits; a sign stands before them and does not count."""
    return f"-{-number:0{width}d}" if number < 0 else f"{number:0{width}d}"


def _hour12(when: Moment) -> int:
    return when.civil.hour % 12 or 12


def _days(when: Moment) -> int:
    return days_from_civil(*when.civil[:3])


def _offset(when: Moment, colon: str, parts: int) -> str:
    offset = when.zone.offset
    minutes = int(offset / 60)
    sign = "-" if minutes < 0 else "+"
    minutes, seconds = abs(minutes), offset if minutes >= 0 else -offset
    pieces = [f"{minutes // 60:02d}", f"{minutes % 60:02d}", padded(_remainder(seconds, 60), 2)]
    return sign + colon.join(pieces[:parts])


def _remainder(number: int, by: int) -> int:
    return number % by if number >= 0 else -(-number % by)


def _zulu(when: Moment, colon: str, parts: int) -> str:
    return "Z" if when.zone.offset == 0 else _offset(when, colon, parts)


_PIECES: dict[str, Callable[[Moment], str]] = {
    "2006": lambda when: padded(when.civil.year, 4),
    "06": lambda when: f"{abs(when.civil.year) % 100:02d}",
    "January": lambda when: MONTHS[when.civil.month - 1],
    "Jan": lambda when: MONTHS[when.civil.month - 1][:3],
    "1": lambda when: str(when.civil.month),
    "01": lambda when: f"{when.civil.month:02d}",
    "Monday": lambda when: WEEKDAYS[weekday(_days(when))],
    "Mon": lambda when: WEEKDAYS[weekday(_days(when))][:3],
    "2": lambda when: str(when.civil.day),
    "_2": lambda when: f"{when.civil.day:2d}",
    "02": lambda when: f"{when.civil.day:02d}",
    "__2": lambda when: f"{year_day(*when.civil[:3]):3d}",
    "002": lambda when: f"{year_day(*when.civil[:3]):03d}",
    "15": lambda when: f"{when.civil.hour:02d}",
    "3": lambda when: str(_hour12(when)),
    "03": lambda when: f"{_hour12(when):02d}",
    "4": lambda when: str(when.civil.minute),
    "04": lambda when: f"{when.civil.minute:02d}",
    "5": lambda when: str(when.civil.second),
    "05": lambda when: f"{when.civil.second:02d}",
    "PM": lambda when: "PM" if when.civil.hour >= 12 else "AM",
    "pm": lambda when: "pm" if when.civil.hour >= 12 else "am",
    "MST": lambda when: when.zone.name or _offset(when, "", 2),
    "-07": lambda when: _offset(when, "", 1),
    "-0700": lambda when: _offset(when, "", 2),
    "-07:00": lambda when: _offset(when, ":", 2),
    "-070000": lambda when: _offset(when, "", 3),
    "-07:00:00": lambda when: _offset(when, ":", 3),
    "Z07": lambda when: _zulu(when, "", 1),
    "Z0700": lambda when: _zulu(when, "", 2),
    "Z07:00": lambda when: _zulu(when, ":", 2),
    "Z070000": lambda when: _zulu(when, "", 3),
    "Z07:00:00": lambda when: _zulu(when, ":", 3),
}
