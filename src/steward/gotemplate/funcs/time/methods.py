"""The methods that templates can call on times, durations, months, weekdays and locations."""

from __future__ import annotations

from collections.abc import Callable

from steward.gotemplate.errors import GoError
from steward.gotemplate.evaluation.runtime_errors import Fault
from steward.gotemplate.funcs.registry import Table, methods
from steward.gotemplate.golang.time import calendar, durations
from steward.gotemplate.golang.time.time import (
    RFC3339_NANO,
    ZERO_UNIX,
    Duration,
    LocationPointer,
    Month,
    Time,
    Weekday,
)
from steward.gotemplate.golang.time.zones import UTC, local
from steward.gotemplate.values.values import ByteSlice, Int64

times = Table()
spans = Table()

_SECOND = durations.SECOND
_YEAR_ONE = -ZERO_UNIX * _SECOND


def attach() -> None:
    """Gives the classes their methods; done once, when the functions that make such values are loaded."""
    Time.go_methods = methods(times)
    Duration.go_methods = methods(spans)
    names = Table()
    names.function("String() string")(str)
    Month.go_methods = Weekday.go_methods = LocationPointer.go_methods = methods(names)


def _number(name: str, read: Callable[[Time], int]) -> None:
    times.function(f"{name}() int")(read)


_number("Year", lambda this: this.civil().year)
_number("Day", lambda this: this.civil().day)
_number("Hour", lambda this: this.civil().hour)
_number("Minute", lambda this: this.civil().minute)
_number("Second", lambda this: this.civil().second)
_number("Nanosecond", lambda this: this.nanosecond)
_number("YearDay", lambda this: calendar.year_day(*this.civil()[:3]))


def _count(name: str, unit: int) -> None:
    @times.function(f"{name}() int64")
    def count(this: Time) -> Int64:
        return Int64.wrap(this.total() // unit)


_count("Unix", _SECOND)
_count("UnixMilli", durations.MILLISECOND)
_count("UnixMicro", durations.MICROSECOND)
_count("UnixNano", 1)


@times.function("Month() time.Month")
def month(this: Time) -> Month:
    return Month(this.civil().month)


@times.function("Weekday() time.Weekday")
def weekday(this: Time) -> Weekday:
    return Weekday(calendar.weekday(this.days()))


@times.function("String() string")
def string(this: Time) -> str:
    return str(this)


@times.function("GoString() string")
def go_string(this: Time) -> str:
    return this.go_string()


@times.function("Format(string) string")
def format_time(this: Time, layout: str) -> str:
    return this.format(layout)


@times.function("AppendFormat([]uint8, string) []uint8")
def append_format(this: Time, prefix: bytes, layout: str) -> ByteSlice:
    return ByteSlice(bytes(prefix) + this.format(layout).encode("utf-8", "surrogateescape"))


@times.function("MarshalJSON() []uint8")
def marshal_json(this: Time) -> ByteSlice:
    return ByteSlice(this.marshal_json().encode())


@times.function("MarshalText() []uint8")
def marshal_text(this: Time) -> ByteSlice:
    if not 0 <= this.civil().year <= 9999:
        raise GoError("Time.MarshalText: year outside of range [0,9999]")
    return ByteSlice(this.format(RFC3339_NANO).encode())


@times.function("MarshalBinary() []uint8")
@times.function("GobEncode() []uint8")
def marshal_binary(this: Time) -> ByteSlice:
    return ByteSlice(this.marshal_binary())


@times.function("AppendBinary([]uint8) []uint8")
def append_binary(this: Time, prefix: bytes) -> ByteSlice:
    return ByteSlice(bytes(prefix) + this.marshal_binary())


@times.function("AppendText([]uint8) []uint8")
def append_text(this: Time, prefix: bytes) -> ByteSlice:
    return ByteSlice(bytes(prefix) + bytes(marshal_text(this)))


def _of_several(name: str, complaint: str) -> None:
    """A method with several results, which Go's templates refuse to call."""

    @times.function(f"{name}() any")
    def refuse(_: Time) -> None:
        raise Fault(complaint)


for _name in ("Date", "Clock"):
    _of_several(_name, f"function {_name} has 3 return values; should be 1 or 2")
for _name, _second in (("ISOWeek", "int"), ("Zone", "int"), ("ZoneBounds", "time.Time")):
    _of_several(
        _name, f"invalid function signature for {_name}: second return value should be error; is {_second}"
    )


@times.function("UTC() time.Time")
def utc(this: Time) -> Time:
    return this.within(UTC)


@times.function("Local() time.Time")
def to_local(this: Time) -> Time:
    return this.within(local())


@times.function("In(*time.Location) time.Time")
def within(this: Time, place: LocationPointer | None) -> Time:
    if place is None:
        raise GoError("time: missing Location in call to Time.In")
    return this.within(place.location)


@times.function("Location() *time.Location")
def location(this: Time) -> LocationPointer:
    return LocationPointer(this.location)


@times.function("IsZero() bool")
def is_zero(this: Time) -> bool:
    return this.unix == ZERO_UNIX and this.nanosecond == 0


@times.function("IsDST() bool")
def is_dst(this: Time) -> bool:
    return this.location.is_dst(this.unix)


@times.function("Before(time.Time) bool")
def before(this: Time, other: Time) -> bool:
    return this.total() < other.total()


@times.function("After(time.Time) bool")
def after(this: Time, other: Time) -> bool:
    return this.total() > other.total()


@times.function("Equal(time.Time) bool")
def equal(this: Time, other: Time) -> bool:
    return this.total() == other.total()


@times.function("Compare(time.Time) int")
def compare(this: Time, other: Time) -> int:
    return (this.total() > other.total()) - (this.total() < other.total())


@times.function("Add(time.Duration) time.Time")
def add(this: Time, span: Duration) -> Time:
    return this.plus(int(span))


@times.function("Sub(time.Time) time.Duration")
def sub(this: Time, other: Time) -> Duration:
    return Duration(this.minus(other))


@times.function("AddDate(int, int, int) time.Time")
def add_date(this: Time, years: int, months: int, days: int) -> Time:
    return this.plus_date(years, months, days)


def _excess(this: Time, span: int) -> int:
    """How far the time is past the last multiple of the span since year 1."""
    return (this.total() + _YEAR_ONE) % span


@times.function("Truncate(time.Duration) time.Time")
def truncate(this: Time, span: Duration) -> Time:
    bare = Time(this.unix, this.nanosecond, this.location)
    return bare.plus(-_excess(this, span)) if span > 0 else bare


@times.function("Round(time.Duration) time.Time")
def round_time(this: Time, span: Duration) -> Time:
    bare = Time(this.unix, this.nanosecond, this.location)
    if span <= 0:
        return bare
    excess = _excess(this, span)
    return bare.plus(-excess if 2 * excess < span else span - excess)


def _nanoseconds_of(span: Duration, unit: int) -> float:
    whole, rest = divmod(abs(int(span)), unit)
    value = whole + rest / unit
    return -value if span < 0 else value


def _in_units(name: str, unit: int) -> None:
    @spans.function(f"{name}() float64")
    def in_units(this: Duration) -> float:
        return _nanoseconds_of(this, unit)


_in_units("Hours", durations.HOUR)
_in_units("Minutes", durations.MINUTE)
_in_units("Seconds", _SECOND)


def _whole_units(name: str, unit: int) -> None:
    @spans.function(f"{name}() int64")
    def whole_units(this: Duration) -> Int64:
        return Int64(abs(int(this)) // unit * (-1 if this < 0 else 1))


_whole_units("Milliseconds", durations.MILLISECOND)
_whole_units("Microseconds", durations.MICROSECOND)
_whole_units("Nanoseconds", 1)


@spans.function("String() string")
def span_string(this: Duration) -> str:
    return str(this)


@spans.function("Round(time.Duration) time.Duration")
def round_span(this: Duration, unit: Duration) -> Duration:
    return Duration(durations.round_duration(int(this), int(unit)))


@spans.function("Truncate(time.Duration) time.Duration")
def truncate_span(this: Duration, unit: Duration) -> Duration:
    return Duration(durations.truncate_duration(int(this), int(unit)))


@spans.function("Abs() time.Duration")
def absolute(this: Duration) -> Duration:
    return Duration(min(abs(int(this)), (1 << 63) - 1))
