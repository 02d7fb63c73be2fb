"""Dates with a given time: every layout token, zones, parsing with its errors, durations. The clock is read only for shapes."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, grid, templates

LAYOUTS = [
    "2006-01-02T15:04:05Z07:00", "2006-01-02", "Mon Jan _2 15:04:05 2006", "Monday, 02-Jan-06 15:04:05 MST", "Mon, 02 Jan 2006 15:04:05 -0700",
    "3:04PM", "3:04:05 pm", "03:04 PM", "15h4m5s", "2006 002 __2", "06/1/2", "January 2, 2006", "Z0700 Z07:00 Z070000 Z07:00:00 Z07",
    "-0700 -07:00 -07 -070000 -07:00:00", "05.000", "05.999", "05,000", "05.999999999", ".00", "MST", "Jan2006", "Janet", "Mondays", "_2006",
    "_2 __2 002", "2nd of January", "20060102150405", "", "plain text", "é 2006 日", "Jan _2", "1/2/06 3PM", "05.0", "2006-01-02 15:04:05.999999 -0700 MST",
]  # fmt: skip
TIMES = [
    "0",
    "1",
    "-1",
    "1709212245",
    "951782400",
    "-62135596800",
    "253402300799",
    "1234567890",
    "4102444800",
    "-2208988800",
]
ZONES = [
    '"UTC"',
    '""',
    '"Local"',
    '"Europe/Berlin"',
    '"America/New_York"',
    '"Asia/Kolkata"',
    '"Asia/Tokyo"',
    '"Nope/Zone"',
    '"EST"',
    '"Etc/GMT+5"',
    '"../x"',
    '"Australia/Lord_Howe"',
    '"america/new_york"',
]
PARSED = [
    ("2006-01-02", ["2024-02-29", "2023-02-29", "2024-2-29", "2024-13-01", "2024-02-30", "2024-00-10", "", "x", "2024-02-29 ", " 2024-02-29", "20240229", "2024-02", "10000-01-01", "0000-01-01"]),
    ("2006-01-02 15:04:05", ["2024-02-29 23:59:59", "2024-02-29 24:00:00", "2024-02-29 23:60:00", "2024-02-29 23:59:60", "2024-02-29 23:59:59.5", "2024-02-29 1:02:03", "2024-02-29"]),
    ("2006-01-02T15:04:05Z07:00", ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00+05:30", "2024-02-29T12:00:00-08:00", "2024-02-29T12:00:00.123456789Z", "2024-02-29T12:00:00", "2024-02-29T12:00:00+0530", "2024-02-29T12:00:00+25:00", "2024-02-29T12:00:00,5Z", "2024-02-29t12:00:00z"]),
    ("Mon, 02 Jan 2006 15:04:05 MST", ["Thu, 29 Feb 2024 12:00:00 UTC", "Thu, 29 Feb 2024 12:00:00 EST", "Thu, 29 Feb 2024 12:00:00 GMT+3", "thu, 29 feb 2024 12:00:00 UTC", "Xxx, 29 Feb 2024 12:00:00 UTC", "Thu, 29 Foo 2024 12:00:00 UTC", "Thu, 29 Feb 2024 12:00:00 +03"]),
    ("January _2 2006 3:04PM", ["February 29 2024 3:04PM", "February  9 2024 3:04AM", "february 29 2024 13:04PM", "February 29 2024 12:04am", "February 29 2024 12:04AM", "February 29 2024 0:04AM"]),
    ("2006 002", ["2024 060", "2024 366", "2023 366", "2024 000", "2024 60"]),
    ("06-1-2", ["24-2-9", "69-1-1", "68-1-1", "24-02-09", "4-2-9"]),
    ("15:04:05.000", ["12:00:00.123", "12:00:00.12", "12:00:00", "12:00:00.1234"]),
    ("-0700", ["+0530", "-0800", "0530", "+05:30", "+2500", "-0000"]),
    ("unknown", ["unknown", "Unknown", "unknow", "unknown!"]),
    ("", ["", "x"]),
    ("2006-01-02 MST", ["2024-02-29 CEST", "2024-02-29 UTC", "2024-02-29 abc", "2024-02-29 WITA", "2024-02-29 GMT-12", "2024-02-29 GMT+24"]),
    ("Monday", ["Tuesday", "tuesdaY", "Tues"]),
    ("_2/01/2006", ["1/02/2024", " 1/02/2024", "31/02/2024"]),
]  # fmt: skip
DURATIONS = [
    "0", "1", "95", "3600", "86400", "-90", "90061", "x", "", "1.5", "9223372036854775807", "1h", "9223372036", "9223372037", " 1", "+1", "0x1",
]  # fmt: skip
ROUNDED = [
    "0s", "1s", "1.5s", "59s", "60s", "61s", "90m", "60m", "61m", "23h59m", "24h", "25h", "720h", "721h", "8760h", "8761h", "20000h", "-90m", "1ns",
    "500ms", "2h30m10.5s", "x", "", "1", "1d", "1h-1m", "-1.5h", "+2h", "1us", "1µs", "1μs", ".5h", "1.h", ".h", "1e3s", "9223372036854775807ns", "9223372036854775808ns",
    "3000000h", "1h 2m", "h", "--1h", "2540400h10m10s",
]  # fmt: skip
DATE = '(toDate "2006-01-02 15:04:05" "2024-02-29 13:04:05")'


def cases() -> Iterator[Case]:
    yield from grid("layouts", 'date "{0}" (int64 {1})', LAYOUTS, TIMES)
    yield from grid("layouts", 'dateInZone "{0}" {1} "America/New_York"', LAYOUTS, [DATE])
    for name in ("dateInZone", "date_in_zone"):
        yield from call(
            name,
            ['"2006-01-02 15:04:05 -0700 MST"'],
            ["0", "(int64 1709212245)", "(int64 1720000000)", DATE],
            ZONES,
        )
    yield from call("htmlDateInZone", ["0", "(int64 1709212245)", DATE], ZONES)
    yield from call("htmlDate", ["0", "(int64 1709251199)", DATE, "-1"])
    yield from call("unixEpoch", [DATE, '(toDate "2006" "x")', '(toDate "2006" "1969")'])
    for layout, texts in PARSED:
        for name in ("toDate", "mustToDate"):
            yield from call(name, [f'"{layout}"'], [f'"{text}"' for text in texts])
    yield from grid(
        "modify",
        "{0} {1} {2}",
        ["dateModify", "date_modify", "mustDateModify", "must_date_modify"],
        [f'"{d}"' for d in ROUNDED],
        [DATE],
    )
    yield from call("duration", [f'"{d}"' for d in DURATIONS])
    yield from call(
        "duration",
        [
            "95",
            "(int64 95)",
            "(int64 -1)",
            "(int64 9223372036854775807)",
            "95.0",
            ".n",
            "nil",
            "true",
            "(int64 9223372037)",
            "(int64 100000)",
        ],
    )
    yield from call("durationRound", [f'"{d}"' for d in ROUNDED])
    yield from call(
        "durationRound", ["95", "(int64 95)", "(int64 1000000001)", "(int64 -3600000000001)", "nil", "2.5"]
    )
    yield from actions("dates", MORE)
    yield from actions("shapes", SHAPES, profile="full")
    yield from templates("dates in templates", WHOLE)


MORE = r"""
toDate "2006-01-02" "2024-02-29" | date "Jan 2"
toDate "2006-01-02" "nope" | empty
toDate "2006-01-02" "nope"
toDate "2006-01-02" "nope" | toJson
toDate "2006-01-02" "2024-02-29" | toJson
toDate "2006-01-02T15:04:05.000" "2024-02-29T01:02:03.450" | toJson
toDate "2006-01-02" "2024-02-29" | toString
toDate "2006-01-02" "2024-02-29" | quote
toDate "2006-01-02" "2024-02-29" | squote
toDate "2006-01-02" "2024-02-29" | typeOf
toDate "2006-01-02" "2024-02-29" | kindOf
toDate "2006-01-02" "2024-02-29" | unixEpoch | typeOf
toDate "2006-01-02 -0700" "2024-02-29 +0530"
toDate "2006-01-02 -0700" "2024-02-29 +0530" | date "2006-01-02 15:04 -0700"
toDate "2006-01-02 MST" "2024-02-29 CET"
toDate "2006-01-02 MST" "2024-02-29 CET" | unixEpoch
list (toDate "2006" "2024") | toString
dict "d" (toDate "2006" "2024") | toString
dict "d" (toDate "2006" "2024") | toJson
date "2006-01-02" 0
date "2006-01-02" 86399
date "2006-01-02" (int64 86400)
date "2006" -1
date 2006 0
date "2006"
date
htmlDate
htmlDateInZone 0
dateInZone "2006" 0
dateInZone "15:04" 0 1
unixEpoch 5
unixEpoch nil
unixEpoch "2024"
dateModify "1h" 5
dateModify "1h" nil
mustDateModify "x" (toDate "2006" "2024")
mustDateModify "1y" (toDate "2006" "2024")
mustDateModify "-1.5h30s" (toDate "2006" "2024")
mustToDate "2006-01-02" "x"
mustToDate "2006-01-02" "2024-02-31"
mustToDate "2006-01-02" "2024-1-31"
mustToDate "2006-01-02" "2024-01-31x"
mustToDate "2006-01-02" "2024-01-31 é"
mustToDate "2006 é" "2024 é\n\"q\""
mustToDate "3PM" "13PM"
duration nil
durationRound nil
duration (list)
toDate "2006-01-02" "2024-02-29" | dateModify "24h" | date "2006-01-02"
toDate "2006-01-02" "2024-02-29" | dateModify "-8784h" | date "2006-01-02"
toDate "2006-01-02" "9999-12-31" | dateModify "24h" | date "2006-01-02"
toDate "2006-01-02" "9999-12-31" | dateModify "24h" | toJson
toDate "2006-01-02" "9999-12-31" | dateModify "24h" | mustToJson
toDate "2006-01-02" "0000-01-01" | dateModify "-24h" | date "2006-01-02"
"""
SHAPES = r"""
now | kindOf
now | typeOf
now | date "2006" | len
now | unixEpoch | atoi | lt 1600000000
now | empty
date "2006" .s | len
date "2006-01-02" nil | len
htmlDate .n | len
htmlDateInZone "x" "UTC" | len
ago now
ago (now | dateModify "-90s") | regexMatch "^1m3[0-2]s$"
ago .s
ago
now 1
now | dateModify "1h" | typeOf
durationRound (now | dateModify "-90m")
now | htmlDate | regexMatch "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
(now).Year | lt 2020
now.Year
"""
WHOLE = r"""
{{ $d := toDate "2006-01-02" "2024-02-29" }}{{ range list "24h" "-24h" "8760h" }}{{ $d | dateModify . | date "2006-01-02" }} {{ end }}
{{ with toDate "2006-01-02" "2024-02-29" }}{{ . | date "Mon" }}{{ .Year }}{{ end }}
{{ range until 7 }}{{ date "Mon " (mul . 86400) }}{{ end }}
{{ range until 12 }}{{ date "Jan January 1 01 " (int64 (mul . 2678400)) }}{{ end }}
{{ range until 25 }}{{ date "15 3PM 03pm;" (int64 (mul . 3600)) }}{{ end }}
"""
