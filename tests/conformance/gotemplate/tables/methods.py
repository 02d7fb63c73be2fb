"""What hangs on a value with methods: dates, months, durations, versions, certificates."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, grid

DATE = '(toDate "2006-01-02T15:04:05.000Z07:00" "2024-02-29T13:04:05.678Z")'
TIME_CALLS = [
    "Year", "Month", "Day", "Hour", "Minute", "Second", "Nanosecond", "YearDay", "Weekday", "Unix", "UnixMilli", "UnixMicro", "UnixNano", "UTC",
    "IsZero", "Local", "String", "GoString", 'Format "Jan 2 06"', "Format", "Format 1", 'Format "2006" 1', "AddDate 0 1 0", "AddDate 1 0 0", "AddDate 0 0 -60",
    "AddDate 1", "Date", "Clock", "ISOWeek", "Zone", "Location", "Nope", "year", "Month.String", "Weekday.String", "UTC.Year", "Equal $d", "Before $d", "After $d",
    "Sub $d", "Compare $d", "Sub 1", "Truncate 1", "Round 1", "IsDST", "MarshalJSON", "MarshalText", "wall", "Add 1", "Add 3600000000000", 'Add "1h"', "Add 1.5",
    "In nil", "Year 1", "Month 1", "Day.x", "Weekday | printf \"%d\"", "Month | printf \"%d %s %v\" 1", "Month | int", "Weekday | add 1", "ZoneBounds", "AppendFormat nil \"2006\"",
]  # fmt: skip
DURATION_CALLS = [
    "Hours",
    "Minutes",
    "Seconds",
    "Nanoseconds",
    "Milliseconds",
    "Microseconds",
    "String",
    "Abs",
    "Nope",
    "Round 1000000000",
    "Truncate 3600000000000",
    'Hours | printf "%.1f"',
]
VERSIONS = ["1.2.3", "v1.2", "1", "1.2.3-alpha.1+build.5", "0.0.0", "10.20.30-rc1"]
VERSION_CALLS = [
    "Major", "Minor", "Patch", "Prerelease", "Metadata", "Original", "String", "IncMajor", "IncMinor", "IncPatch", "IncMajor.String",
    "Compare $v", "LessThan $v", "GreaterThan $v", "Equal $v", "Nope", "major", 'SetPrerelease "beta.1"', 'SetPrerelease "bad!"', 'SetMetadata "m"', "Major 1",
    "Compare 1", "Compare", 'Compare "1.2.3"', "LessThanEqual $v", "GreaterThanEqual $v", "MarshalJSON", "MarshalText", "Major | printf \"%T\"", "Prerelease | quote",
]  # fmt: skip


def cases() -> Iterator[Case]:
    for method in TIME_CALLS:
        yield from grid("time", "$d := {0} }}}}{{{{ $d." + method, [DATE])
    for method in TIME_CALLS[:16]:
        yield from grid(
            "time",
            "$d := {0} }}}}{{{{ $d." + method,
            ['(toDate "2006" "x")', '(toDate "2006-01-02 -0700" "1969-12-31 -0830")'],
        )
    for method in DURATION_CALLS:
        yield from grid(
            "duration",
            "$d := {0} }}}}{{{{ ($d.Sub ({1})).{2}",
            [DATE],
            ['toDate "2006" "2024"', 'toDate "2006" "2025"', "$d"],
            [method],
        )
    for method in VERSION_CALLS:
        yield from grid("version", '$v := semver "1.2.3" }}}}{{{{ (semver "{0}").' + method, VERSIONS)
    yield from actions("methods", MORE)


MORE = r"""
(toDate "2006" "2024").Year
(toDate "2006" "2024").Year.x
(toDate "2006" "2024").Sub (toDate "2006" "2023")
(toDate "2006" "2024").Sub nil
((toDate "2006" "2024").Sub (toDate "2006" "2023")).Hours | int
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | printf "%d %v %s %T"
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | toJson
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | durationRound
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | toString
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | kindOf
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | typeOf
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | int64
((toDate "2006" "2024").Sub (toDate "2006" "2023")) | add 1
(toDate "2006" "2024").Month | kindOf
(toDate "2006" "2024").Month | typeOf
(toDate "2006" "2024").Month | toJson
(toDate "2006" "2024").Month | quote
(toDate "2006" "2024").Month | add 1
eq (toDate "2006" "2024").Month 1
eq (toDate "2006" "2024").Month 2
lt (toDate "2006" "2024").Month 2
(toDate "2006" "2024").Weekday | toString
(toDate "2006" "2024").Date
(toDate "2006" "2024").Foo.Bar
(semver "1.2.3").Major | add 1
(semver "1.2.3").Major | printf "%T %d"
(semver "1.2.3").Major | kindOf
eq (semver "1.2.3").Major 1
lt (semver "1.2.3").Major 2
(semver "1.2.3").Major | until
(semver "1.2.3").Major | int | until
(semver "1.2.3").Compare (semver "1.3.0")
(semver "1.2.3") | toJson
(semver "1.2.3") | typeOf
(semver "1.2.3") | kindOf
(semver "1.2.3") | quote
(semver "v1.2") | toString
(semver "v1.2").Original
(semver "1.2.3").IncMinor.Original
(semver "v1.2.3").IncMinor.Original
(semver "1.2.3-rc1+m").IncPatch
(semver "1.2.3").SetPrerelease "beta"
list (semver "1.2.3") | toString
list (semver "1.2.3") (semver "1.0.0") | join ","
list (semver "1.10.0") (semver "1.9.0") | sortAlpha
empty (semver "0.0.0")
deepCopy (semver "1.2.3")
(semver "1.2.3").Metadata | quote
.s.Foo
.list.Len
.m.Keys
$.String
(1).String
(list).Len 1
.s.Foo 1
.m.a.Foo 1
(dict "f" 1).f 2
"""
