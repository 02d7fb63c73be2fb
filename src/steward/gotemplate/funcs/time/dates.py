"""Dates and durations. What needs the clock is in the full profile; see `_now` for functions that may need it."""

from __future__ import annotations

from steward.gotemplate.budget import Budget, Profile
from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.collections.reflection import type_name
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.funcs.time import methods
from steward.gotemplate.golang.strconv import GoRangeError, parse_int
from steward.gotemplate.golang.time.durations import (
    HOUR,
    MINUTE,
    SECOND,
    format_duration,
    parse_duration,
    round_duration,
)
from steward.gotemplate.golang.time.parse import parse_time
from steward.gotemplate.golang.time.time import Time, zero_time
from steward.gotemplate.golang.time.zones import UTC, load, local
from steward.gotemplate.values.values import Int64, Value, byte_length, wrap_int64

table = Table()

_DAY = 24 * HOUR
_UNITS = ((365 * _DAY, "y"), (30 * _DAY, "mo"), (_DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s"))
_HTML = "2006-01-02"


def _now(budget: Budget) -> Time:
    """sprig reads a date that is neither a time nor a whole number as now; without the clock that is an error."""
    if budget.profile is not Profile.FULL:
        raise GoError(
            "the date is neither a time nor an int, which means now: the clock is only in profile full"
        )
    return now()


@table.function("now() time.Time", Profile.FULL)
def now() -> Time:
    import time

    unix, nanosecond = divmod(time.time_ns(), SECOND)
    return Time(unix, nanosecond, local(), time.monotonic_ns() - _STARTED)


def _started() -> int:
    import time

    return time.monotonic_ns()


_STARTED = _started()


def _time_of(budget: Budget, date: Value) -> Time:
    if isinstance(date, Time):
        return date
    # int, int64 and int32 count seconds; other integers mean now, as everything else does.
    if type_name(date) in ("int", "int64", "int32"):
        return Time(int(date), 0, local())
    return _now(budget)


def _in_zone(budget: Budget, layout: str, date: Value, zone: str) -> str:
    budget.work(len(layout))
    time = _time_of(budget, date)
    try:
        location = load(zone)
    except GoError:
        location = UTC
    return time.within(location).format(layout)


@table.budgeted("date(string, any) string")
def date(budget: Budget, layout: str, moment: Value) -> str:
    return _in_zone(budget, layout, moment, "Local")


@table.budgeted("dateInZone(string, any, string) string")
@table.budgeted("date_in_zone(string, any, string) string")
def date_in_zone(budget: Budget, layout: str, moment: Value, zone: str) -> str:
    return _in_zone(budget, layout, moment, zone)


@table.budgeted("htmlDate(any) string")
def html_date(budget: Budget, moment: Value) -> str:
    return _in_zone(budget, _HTML, moment, "Local")


@table.budgeted("htmlDateInZone(any, string) string")
def html_date_in_zone(budget: Budget, moment: Value, zone: str) -> str:
    return _in_zone(budget, _HTML, moment, zone)


@table.budgeted("mustToDate(string, string) time.Time")
def must_to_date(budget: Budget, layout: str, text: str) -> Time:
    budget.work(len(layout) + byte_length(text))
    return Time(*parse_time(layout, text, local()))


@table.budgeted("toDate(string, string) time.Time")
def to_date(budget: Budget, layout: str, text: str) -> Time:
    """What cannot be read is the year 1."""
    try:
        return must_to_date(budget, layout, text)
    except GoError:
        return zero_time()


@table.budgeted("mustDateModify(string, time.Time) time.Time")
@table.budgeted("must_date_modify(string, time.Time) time.Time")
def must_date_modify(budget: Budget, change: str, moment: Time) -> Time:
    budget.work(len(change))
    return moment.plus(parse_duration(change))


@table.budgeted("dateModify(string, time.Time) time.Time")
@table.budgeted("date_modify(string, time.Time) time.Time")
def date_modify(budget: Budget, change: str, moment: Time) -> Time:
    try:
        return must_date_modify(budget, change, moment)
    except GoError:
        return moment


@table.function("unixEpoch(time.Time) string")
def unix_epoch(moment: Time) -> str:
    return str(moment.unix)


@table.budgeted("ago(any) string", Profile.FULL)
def ago(budget: Budget, date: Value) -> str:
    moment = _now(budget) if type_name(date) == "int32" else _time_of(budget, date)
    return format_duration(round_duration(now().minus(moment), SECOND))


@table.function("duration(any) string")
def duration(seconds: Value) -> str:
    """Of a string or an int64; an int, oddly, is ignored."""
    return format_duration(wrap_int64(_seconds(seconds) * SECOND))


def _seconds(value: Value) -> int:
    if type(value) is Int64:
        return int(value)
    if not isinstance(value, str):
        return 0
    try:
        return parse_int(value, 10)
    except GoRangeError as error:
        return int(error.nearest)
    except GoError:
        return 0


@table.budgeted("durationRound(any) string")
def duration_round(budget: Budget, value: Value) -> str:
    """In its largest unit that it exceeds."""
    size = abs(_nanoseconds(budget, value))
    for unit, name in _UNITS:
        if size > unit:
            return f"{size // unit}{name}"
    return "0s"


def _nanoseconds(budget: Budget, value: Value) -> int:
    if isinstance(value, Time):
        return _now(budget).minus(value)
    if type(value) is Int64:
        return int(value)
    if not isinstance(value, str):
        return 0
    budget.work(len(value))
    try:
        return parse_duration(value)
    except GoError:
        return 0


methods.attach()
