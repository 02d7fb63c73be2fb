"""time.Time, Month, Weekday and Duration as values that templates can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.strconv import MAX_INT64, MIN_INT64
from steward.gotemplate.golang.time.calendar import (
    MONTHS,
    WEEKDAYS,
    Civil,
    civil_from_seconds,
    days_from_civil,
)
from steward.gotemplate.golang.time.durations import SECOND, format_duration, quote_time
from steward.gotemplate.golang.time.format import Moment, format_time, moment
from steward.gotemplate.golang.time.parse import unix_of_clock
from steward.gotemplate.golang.time.zones import UTC, Location, local
from steward.gotemplate.values.values import Int, Int64, Uint64, go_type

_DEFAULT_LAYOUT = "2006-01-02 15:04:05.999999999 -0700 MST"
RFC3339_NANO = "2006-01-02T15:04:05.999999999Z07:00"
# Year 1, where Go's zero Time stands.
ZERO_UNIX = -62_135_596_800


class Duration(Int64):
    go_type = go_type("time.Duration", "int64")
    go_methods: ClassVar[Mapping[str, Any]] = {}

    def __str__(self) -> str:
        return format_duration(int(self))


class Month(Int):
    go_type, bits, signed = go_type("time.Month", "int"), 64, True
    go_methods: ClassVar[Mapping[str, Any]] = {}

    def __str__(self) -> str:
        return MONTHS[self - 1] if 1 <= self <= 12 else f"%!Month({int(self) & (1 << 64) - 1})"


class Weekday(Int):
    go_type, bits, signed = go_type("time.Weekday", "int"), 64, True
    go_methods: ClassVar[Mapping[str, Any]] = {}

    def __str__(self) -> str:
        return WEEKDAYS[self] if 0 <= self <= 6 else f"%!Weekday({int(self) & (1 << 64) - 1})"


class LocationPointer:
    """*time.Location."""

    go_type = go_type("*time.Location", "ptr")
    go_methods: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, location: Location) -> None:
        self.location = location

    def __str__(self) -> str:
        return self.location.name

    def go_fields(self) -> Mapping[str, Any]:
        return {}


class Time:
    """An instant, in a place; `monotonic` is the reading of the process's own clock, which only `now` has."""

    go_type = go_type("time.Time", "struct")
    go_methods: ClassVar[Mapping[str, Any]] = {}
    __slots__ = ("location", "monotonic", "nanosecond", "unix")

    def __init__(
        self, unix: int, nanosecond: int = 0, location: Location = UTC, monotonic: int | None = None
    ) -> None:
        self.unix = unix
        self.nanosecond = nanosecond
        self.location = location
        self.monotonic = monotonic

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        return (self.unix, self.nanosecond, self.monotonic) == (
            other.unix,
            other.nanosecond,
            other.monotonic,
        ) and self.location is other.location

    def __hash__(self) -> int:
        return hash((self.unix, self.nanosecond))

    def go_fields(self) -> Mapping[str, Any]:
        """Go's own names; all unexported, so a template learns only that they are."""
        return {
            "wall": Uint64(self.nanosecond),
            "ext": Int64(self.unix - ZERO_UNIX),
            "loc": LocationPointer(self.location),
        }

    def deep_fields(self) -> tuple[Any, ...]:
        place = self.location
        return self.unix, self.nanosecond, self.monotonic, place.name, place.zones

    def total(self) -> int:
        """Nanoseconds since 1970."""
        return self.unix * SECOND + self.nanosecond

    def moment(self) -> Moment:
        return moment(self.unix, self.nanosecond, self.location.at(self.unix))

    def civil(self) -> Civil:
        return civil_from_seconds(self.unix + self.location.at(self.unix).offset)

    def days(self) -> int:
        return (self.unix + self.location.at(self.unix).offset) // 86_400

    def format(self, layout: str) -> str:
        return format_time(self.moment(), layout)

    def __str__(self) -> str:
        text = self.format(_DEFAULT_LAYOUT)
        if self.monotonic is None:
            return text
        sign, size = ("-", -self.monotonic) if self.monotonic < 0 else ("+", self.monotonic)
        return f"{text} m={sign}{size // SECOND}.{size % SECOND:09d}"

    def within(self, location: Location) -> Time:
        return Time(self.unix, self.nanosecond, location)

    def plus(self, nanoseconds: int) -> Time:
        carry, nanosecond = divmod(self.nanosecond + nanoseconds, SECOND)
        monotonic = None if self.monotonic is None else self.monotonic + nanoseconds
        return Time(self.unix + carry, nanosecond, self.location, monotonic)

    def minus(self, other: Time) -> int:
        """Nanoseconds between, held at the ends of int64."""
        if self.monotonic is not None and other.monotonic is not None:
            return self.monotonic - other.monotonic
        return max(MIN_INT64, min(MAX_INT64, self.total() - other.total()))

    def plus_date(self, years: int, months: int, days: int) -> Time:
        civil = self.civil()
        clock = civil.hour * 3600 + civil.minute * 60 + civil.second
        return at_clock(
            days_from_civil(civil.year + years, civil.month + months, civil.day + days) * 86_400 + clock,
            self.nanosecond,
            self.location,
        )

    def marshal_json(self) -> str:
        year = self.civil().year
        if not 0 <= year <= 9999:
            raise GoError("Time.MarshalJSON: year outside of range [0,9999]")
        return f'"{self.format(RFC3339_NANO)}"'

    def marshal_binary(self) -> bytes:
        """Version, seconds since year 1, nanoseconds, and the zone's minutes (-1 for UTC)."""
        offset = self.location.at(self.unix).offset
        minutes, seconds = divmod(offset, 60)
        if self.location is UTC:
            minutes, seconds = -1, 0
        elif not -32768 <= minutes <= 32767 or minutes == -1:
            raise GoError("Time.MarshalBinary: unexpected zone offset")
        head = bytes([2 if seconds else 1]) + (self.unix - ZERO_UNIX).to_bytes(8, "big", signed=True)
        tail = self.nanosecond.to_bytes(4, "big") + minutes.to_bytes(2, "big", signed=True)
        return head + tail + (bytes([seconds]) if seconds else b"")

    def go_string(self) -> str:
        """As %#v prints it."""
        civil = self.civil()
        parts = [
            str(civil.year),
            f"time.{MONTHS[civil.month - 1]}",
            *map(str, civil[2:]),
            str(self.nanosecond),
        ]
        return f"time.Date({', '.join(parts)}, {_go_location(self.location)})"


def _go_location(location: Location) -> str:
    if location is UTC:
        return "time.UTC"
    return "time.Local" if location is local() else f"time.Location({quote_time(location.name)})"


def at_clock(clock: int, nanosecond: int, place: Location) -> Time:
    """The time that a wall clock in a place shows."""
    return Time(unix_of_clock(clock, place), nanosecond, place)


def zero_time() -> Time:
    return Time(ZERO_UNIX)
