"""time.ParseInLocation: a layout read against a text, byte by byte, with Go's errors.

Both are read as Latin-1, one character for each byte, and turned back only to be shown in an error.
"""

from __future__ import annotations

from typing import NamedTuple

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.time.calendar import days_before, days_from_civil, days_in, is_leap
from steward.gotemplate.golang.time.durations import quote_time
from steward.gotemplate.golang.time.fields import (
    READERS,
    Fields,
    Mismatch,
    OutOfRange,
    read_fraction,
    read_unasked_fraction,
)
from steward.gotemplate.golang.time.layout import chunks, is_fraction
from steward.gotemplate.golang.time.zones import Location, fixed
from steward.gotemplate.values.values import from_bytes, to_bytes


class ParsedTime(NamedTuple):
    """Seconds since 1970, nanoseconds, and the place."""

    unix: int
    nanosecond: int
    location: Location


def parse_time(layout: str, text: str, place: Location) -> ParsedTime:
    """Reads the text as the layout says; without a zone in it, the time is of that place."""
    fields = Fields(_latin1(text))
    layout_chunks = chunks(_latin1(layout))
    for index, (literal, piece) in enumerate(layout_chunks):
        if not _skip(fields, literal):
            raise _cannot_parse(layout, text, fields.value, literal)
        if not piece:
            break
        following = layout_chunks[index + 1].piece if not layout_chunks[index + 1].literal else ""
        _read_piece(fields, piece, following, layout, text)
    if fields.value:
        raise _bad(text, f"extra text: {quote_time(_text(fields.value))}")
    return _assemble(fields, text, place)


def _latin1(text: str) -> str:
    return text if text.isascii() else to_bytes(text).decode("latin-1")


def _text(latin1: str) -> str:
    return from_bytes(latin1.encode("latin-1"))


def _bad(text: str, why: str) -> GoError:
    return GoError(f"parsing time {quote_time(text)}: {why}")


def _cannot_parse(layout: str, text: str, value: str, piece: str) -> GoError:
    return GoError(
        f"parsing time {quote_time(text)} as {quote_time(layout)}: "
        f"cannot parse {quote_time(_text(value))} as {quote_time(_text(piece))}"
    )


def _skip(fields: Fields, literal: str) -> bool:
    """Reads literal text; any run of blanks fits any other, even none at the end."""
    at = 0
    while at < len(literal):
        if literal[at] == " ":
            if fields.value and fields.value[0] != " ":
                return False
            at += len(literal[at:]) - len(literal[at:].lstrip(" "))
            fields.value = fields.value.lstrip(" ")
        elif not fields.value.startswith(literal[at]):
            return False
        else:
            fields.value, at = fields.value[1:], at + 1
    return True


def _read_piece(fields: Fields, piece: str, following: str, layout: str, text: str) -> None:
    before = fields.value
    try:
        if is_fraction(piece):
            read_fraction(fields, piece)
        else:
            READERS[piece](fields)
            if piece in ("5", "05") and not is_fraction(following):
                read_unasked_fraction(fields)
    except Mismatch:
        raise _cannot_parse(layout, text, before, piece) from None
    except OutOfRange as error:
        raise _bad(text, f"{error} out of range") from None


def _assemble(fields: Fields, text: str, place: Location) -> ParsedTime:
    if fields.half == "PM" and fields.hour < 12:
        fields.hour += 12
    elif fields.half == "AM" and fields.hour == 12:
        fields.hour = 0
    _settle_date(fields, text)
    if not 1 <= fields.day <= days_in(fields.month, fields.year):
        raise _bad(text, "day out of range")
    clock = days_from_civil(fields.year, fields.month, fields.day) * 86_400
    clock += fields.hour * 3600 + fields.minute * 60 + fields.second
    unix, location = _placed(fields, clock, place)
    return ParsedTime(unix, fields.nanosecond, location)


def _settle_date(fields: Fields, text: str) -> None:
    if fields.year_day < 0:
        fields.month = 1 if fields.month < 0 else fields.month
        fields.day = 1 if fields.day < 0 else fields.day
        return
    month, day = _date_of_year_day(fields.year_day, fields.year, text)
    if fields.month not in (-1, month):
        raise _bad(text, "day-of-year does not match month")
    if fields.day not in (-1, day):
        raise _bad(text, "day-of-year does not match day")
    fields.month, fields.day = month, day


def _date_of_year_day(year_day: int, year: int, text: str) -> tuple[int, int]:
    if is_leap(year):
        if year_day == 60:
            return 2, 29
        if year_day > 60:
            year_day -= 1
    if not 1 <= year_day <= 365:
        raise _bad(text, "day-of-year out of range")
    month = (year_day - 1) // 31 + 1
    if days_before(month + 1) < year_day:
        month += 1
    return month, year_day - days_before(month)


def _placed(fields: Fields, clock: int, place: Location) -> tuple[int, Location]:
    if fields.location is not None:
        return clock, fields.location
    if fields.offset is not None and fields.offset != -1:
        unix = clock - fields.offset
        zone = place.at(unix)
        if zone.offset == fields.offset and fields.zone_name in ("", zone.name):
            return unix, place
        return unix, fixed(_text(fields.zone_name), fields.offset)
    if fields.zone_name:
        return _placed_by_name(fields.zone_name, clock, place)
    return unix_of_clock(clock, place), place


def _placed_by_name(name: str, clock: int, place: Location) -> tuple[int, Location]:
    known = place.by_name(name, clock)
    if known is not None:
        return clock - known, place
    # An unknown abbreviation has no offset, except that GMT+3 says its own; the clock is then read as UTC.
    offset = int(name[3:]) * 3600 if len(name) > 3 and name.startswith("GMT") else 0
    return clock, fixed(name, offset)


def unix_of_clock(clock: int, place: Location) -> int:
    """What a wall clock in that place means; in a gap or an overlap Go's choice is taken."""
    offset = place.at(clock).offset
    if offset:
        offset = place.at(clock - offset).offset
    return clock - offset
