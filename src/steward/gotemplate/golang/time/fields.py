"""The pieces of a time layout as readers: each takes its part of the text and sets the fields it stands for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from steward.gotemplate.golang.time.calendar import MONTHS, WEEKDAYS
from steward.gotemplate.golang.time.zones import UTC, Location

_OFFSET = {
    "07": re.compile(r"(?s)(.)(..)()()"),
    "0700": re.compile(r"(?s)(.)(..)(..)()"),
    "07:00": re.compile(r"(?s)(.)(..):(..)()"),
    "070000": re.compile(r"(?s)(.)(..)(..)(..)"),
    "07:00:00": re.compile(r"(?s)(.)(..):(..):(..)"),
}
_TWO_DIGITS = re.compile(r"[0-9]{2}\Z")
_SIGNED = re.compile(r"[+-]?[0-9]+\Z")
_SIGNED_OFFSET = re.compile(r"[+-]([0-9]+)")
_FRACTION = re.compile(r"[.,][0-9]+")


class Mismatch(Exception):
    """The text does not fit the piece."""


class OutOfRange(Exception):
    """The text fits, its value does not; the argument says which."""


@dataclass(slots=True)
class Fields:
    value: str
    year: int = 0
    month: int = -1
    day: int = -1
    year_day: int = -1
    hour: int = 0
    minute: int = 0
    second: int = 0
    nanosecond: int = 0
    half: str = ""
    location: Location | None = None
    offset: int | None = None
    zone_name: str = ""

    def take(self, count: int) -> str:
        if len(self.value) < count:
            raise Mismatch
        taken, self.value = self.value[:count], self.value[count:]
        return taken

    def number(self, exactly_two: bool) -> int:
        if not _digit(self.value[:1]):
            raise Mismatch
        if _digit(self.value[1:2]):
            return int(self.take(2))
        if exactly_two:
            raise Mismatch
        return int(self.take(1))


def _digit(char: str) -> bool:
    return "0" <= char <= "9"


def _read_year(fields: Fields) -> None:
    if not _digit(fields.value[:1]):
        raise Mismatch
    fields.year = _integer(fields.take(4))


def _read_short_year(fields: Fields) -> None:
    year = _integer(fields.take(2))
    fields.year = year + (1900 if year >= 69 else 2000)


def _integer(text: str) -> int:
    if not _SIGNED.match(text):
        raise Mismatch
    return int(text)


def _read_name(names: tuple[str, ...], length: int | None) -> Callable[[Fields], int]:
    def read(fields: Fields) -> int:
        for index, name in enumerate(names):
            wanted = name[:length]
            if fields.value[: len(wanted)].lower() == wanted.lower():
                fields.take(len(wanted))
                return index
        raise Mismatch

    return read


def _month_named(length: int | None) -> Callable[[Fields], None]:
    read = _read_name(MONTHS, length)

    def set_month(fields: Fields) -> None:
        fields.month = read(fields) + 1

    return set_month


def _weekday_named(length: int | None) -> Callable[[Fields], None]:
    read = _read_name(WEEKDAYS, length)

    def check_weekday(fields: Fields) -> None:
        read(fields)

    return check_weekday


def _number_into(name: str, exactly_two: bool, low: int, high: int) -> Callable[[Fields], None]:
    def read(fields: Fields) -> None:
        number = fields.number(exactly_two)
        setattr(fields, name, number)
        if not low <= number <= high:
            raise OutOfRange(name)

    return read


def _read_day(fields: Fields) -> None:
    fields.day = fields.number(False)


def _read_zero_day(fields: Fields) -> None:
    fields.day = fields.number(True)


def _read_under_day(fields: Fields) -> None:
    fields.value = fields.value.removeprefix(" ")
    fields.day = fields.number(False)


def _read_year_day(fields: Fields) -> None:
    digits = fields.value[:3]
    if len(digits) != 3 or not all(map(_digit, digits)):
        raise Mismatch
    fields.year_day = int(fields.take(3))


def _read_under_year_day(fields: Fields) -> None:
    fields.value = fields.value.removeprefix(" ").removeprefix(" ")
    count = 0
    while count < 3 and _digit(fields.value[count : count + 1]):
        count += 1
    if count == 0:
        raise Mismatch
    fields.year_day = int(fields.take(count))


def _read_half(upper: str) -> Callable[[Fields], None]:
    def read(fields: Fields) -> None:
        half = fields.take(2)
        if half not in (upper, "A" + upper[1] if upper[0] == "P" else "a" + upper[1]):
            raise Mismatch
        fields.half = half.upper()

    return read


def read_unasked_fraction(fields: Fields) -> None:
    # A fraction in the text is read after the seconds although the layout does not name it.
    if _FRACTION.match(fields.value):
        _read_nines(fields)


def read_fraction(fields: Fields, piece: str) -> None:
    if piece[1] == "9":
        _read_nines(fields)
        return
    digits = fields.value[: len(piece)]
    if len(digits) < len(piece) or digits[0] not in ".,":
        raise Mismatch
    fields.nanosecond = _nanoseconds(digits)
    fields.take(len(piece))


def _read_nines(fields: Fields) -> None:
    found = _FRACTION.match(fields.value)
    if found is not None:
        fields.nanosecond = _nanoseconds(found.group())
        fields.take(found.end())


def _nanoseconds(text: str) -> int:
    digits = text[1:10]
    number = _integer(digits)
    if number < 0:
        raise OutOfRange("fractional second")
    return int(digits.ljust(9, "0"))


def _offset_reader(shape: str, zulu: bool) -> Callable[[Fields], None]:
    def read(fields: Fields) -> None:
        if zulu and fields.value.startswith("Z"):
            fields.take(1)
            fields.location = UTC
            return
        found = _OFFSET[shape].match(fields.value)
        if found is None:
            raise Mismatch
        fields.take(found.end())
        _set_offset(fields, *found.groups())

    return read


def _set_offset(fields: Fields, sign: str, *parts: str) -> None:
    read = list(itertools.takewhile(_TWO_DIGITS.match, (part or "00" for part in parts)))
    hour, minute, second = (*map(int, read), 0, 0, 0)[:3]
    # Go complains of a number that is too large before one that is none, or a sign that is none.
    for number, most, name in ((second, 60, "second"), (minute, 60, "minute"), (hour, 24, "hour")):
        if number > most:
            raise OutOfRange(f"time zone offset {name}")
    if len(read) < len(parts) or sign not in "+-":
        raise Mismatch
    offset = (hour * 60 + minute) * 60 + second
    fields.offset = -offset if sign == "-" else offset


def _read_zone_name(fields: Fields) -> None:
    if fields.value.startswith("UTC"):
        fields.take(3)
        fields.location = UTC
        return
    fields.zone_name = fields.take(_zone_name_length(fields.value))


def _zone_name_length(value: str) -> int:
    if len(value) < 3:
        raise Mismatch
    if value[:4] in ("ChST", "MeST"):
        return 4
    if value.startswith("GMT"):
        return 3 + _signed_offset_length(value[3:])
    if value[0] in "+-":
        length = _signed_offset_length(value)
    else:
        capitals = len(re.match("[A-Z]{0,6}", value).group())  # type: ignore[union-attr]
        fits = capitals == 3 or (capitals in (4, 5) and (value[capitals - 1] == "T" or value[:4] == "WITA"))
        length = capitals if fits else 0
    if not length:
        raise Mismatch
    return length


def _signed_offset_length(value: str) -> int:
    found = _SIGNED_OFFSET.match(value)
    hours = found.group(1).lstrip("0") if found else "99"
    return found.end() if found and len(hours) <= 2 and int(hours or 0) <= 23 else 0


READERS: dict[str, Callable[[Fields], None]] = {
    "2006": _read_year,
    "06": _read_short_year,
    "January": _month_named(None),
    "Jan": _month_named(3),
    "1": _number_into("month", False, 1, 12),
    "01": _number_into("month", True, 1, 12),
    "Monday": _weekday_named(None),
    "Mon": _weekday_named(3),
    "2": _read_day,
    "_2": _read_under_day,
    "02": _read_zero_day,
    "__2": _read_under_year_day,
    "002": _read_year_day,
    "15": _number_into("hour", False, 0, 23),
    "3": _number_into("hour", False, 0, 12),
    "03": _number_into("hour", True, 0, 12),
    "4": _number_into("minute", False, 0, 59),
    "04": _number_into("minute", True, 0, 59),
    "5": _number_into("second", False, 0, 59),
    "05": _number_into("second", True, 0, 59),
    "PM": _read_half("PM"),
    "pm": _read_half("pm"),
    "MST": _read_zone_name,
    **{f"-{shape}": _offset_reader(shape, False) for shape in _OFFSET},
    **{f"Z{shape}": _offset_reader(shape, True) for shape in _OFFSET},
}
