"""Data of other shapes than the fixture's: roots that are no map, odd keys, numbers at the edges, strings with everything."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..case import Case, case
from .grid import lines

ROOTS: list[Any] = [
    "text",
    "",
    5,
    0,
    2.5,
    True,
    False,
    [],
    [1, "a", None],
    {},
    {"x": {"y": None}},
    [[{"x": 1}]],
]
NUMBERS = [
    0, -0.0, 1, -1, 0.1, 1.5, 100, 999999, 1000000, 1234567, 12345678.9, 1e20, 1e21, 1e22, 123456789012345678, 9007199254740993, 9223372036854775807, 9223372036854775808, 1e-4, 1e-5, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308,
    0.30000000000000004, -2.5, 4294967296, 2147483648, 65, 1e100, 3.0000000000000004,
]  # fmt: skip
STRINGS = [
    "",
    " ",
    "a",
    "é",
    "日本語",
    "😀",
    "a\nb",
    "\t",
    "\\",
    '"',
    "'",
    "<>&",
    "\u2028",
    "\x00",
    "\x7f",
    "\ufeff",
    "{{ .x }}",
    "%d",
    "a" * 70,
    "0",
    "false",
    "nil",
    "<no value>",
    "007",
    "1e3",
    "\u0301",
    "ﬁ",
    "İ",
    "ǅ",
]
KEYS = ["a-b", "a.b", "", "1", "é", "A", "a b", "if", "_", "日本", "nil", "true", "$x", "x\ny"]


def cases() -> Iterator[Case]:
    for root in ROOTS:
        yield from (case("roots", "{{ " + line + " }}", root) for line in lines(OF_ROOT))
    yield from (Case("roots", "{{ " + line + " }}", "null") for line in lines(OF_ROOT))
    for number in NUMBERS:
        yield from (case("numbers", "{{ " + line + " }}", {"x": number}) for line in lines(OF_NUMBER))
    for string in STRINGS:
        yield from (case("strings", "{{ " + line + " }}", {"x": string}) for line in lines(OF_STRING))
    for key in KEYS:
        yield from (
            case("keys", "{{ " + line.replace("KEY", key) + " }}", {key: "v"}) for line in lines(OF_KEY)
        )


OF_ROOT = r"""
.
.x
.x.y
$
$.x
print .
printf "%v %T" . .
. | toJson
kindOf .
len .
index . 0
index . "x"
if . }}y{{ else }}n{{ end
with . }}{{ . }}{{ else }}n{{ end
range . }}{{ . }};{{ else }}n{{ end
range $k, $v := . }}{{ $k }}={{ $v }};{{ else }}n{{ end
default "d" .
empty .
upper .
keys .
first .
add . 1
eq . .
. | quote
hasKey . "x"
get . "x"
template "t" . }}{{ define "t" }}[{{ . }}]{{ end
"""
OF_NUMBER = r"""
.x
.x | toString
.x | quote
.x | toJson
.x | int
.x | int64
.x | float64
printf "%v %g %f %e" .x .x .x .x
printf "%d %s %q %x" .x .x .x .x
printf "%.3f %8.2f %+.1e %06.1f" .x .x .x .x
add .x 1
mul .x 2
div .x 3
addf .x 0.1
mulf .x 3
divf .x 7
subf .x 1
round .x 2
floor .x
ceil .x
max .x 3
min .x 3
maxf .x 3
list .x | join ","
dict "k" .x | toPrettyJson
eq .x 1.0
lt .x 1.5
if .x }}y{{ else }}n{{ end
toDecimal .x
mod .x 7
html .x
print .x .x
"""
OF_STRING = r"""
.x
.x | quote
.x | squote
.x | toJson
.x | toRawJson
.x | html
.x | js
.x | urlquery
.x | upper
.x | lower
.x | title
.x | len
.x | trunc 2
.x | b64enc
.x | sha256sum
.x | printf "%q %x %+q %#q"
.x | printf "%5s|%-5s|%.1s"
.x | camelcase
.x | snakecase
.x | kebabcase
.x | swapcase
.x | untitle
.x | initials
.x | nospace
.x | trim
.x | splitList "" | len
.x | replace "a" "bb"
.x | indent 2
.x | wrap 10
.x | abbrev 5
.x | int
.x | float64
.x | toDecimal
.x | regexReplaceAll "\\w" "x"
.x | default "d"
.x | trimAll " a\n"
.x | substr 0 1
.x | repeat 2
.x | fromJson
.x | semver
.x | list | toString
.x | eq "a"
.x | lt "b"
.x | contains "a"
.x | regexFindAll "." | len
.x | regexQuoteMeta
.x | toHost
.x | urlParse | toJson
.x | base
.x | ext
.x | clean
.x | index 0
"""
OF_KEY = r"""
.KEY
index . "KEY"
get . "KEY"
hasKey . "KEY"
. | toJson
.
keys .
range $k, $v := . }}{{ $k | quote }}={{ $v }}{{ end
pick . "KEY" | toJson
$.KEY
dig "KEY" "d" .
"""
