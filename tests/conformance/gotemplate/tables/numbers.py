"""Arithmetic: wrap-around, casts from everything, decimal floats, and how each result prints."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, grid

VALUES = [
    "0", "7", "-3", "2.5", "-2.5", "0.1", "1e3", ".n", ".f", ".neg", ".million", ".big", ".tiny", '"42"', '"-7"', '"2.9"', '"x"',
    '""', "true", "false", ".null", "(int64 9)", "9223372036854775807", "-9223372036854775808", "'a'", ".list", ".m", "1e19",
]  # fmt: skip
FEW = ["0", "3", "-2", "2.5", ".f", '"4"', ".null", "9223372036854775807", "-1"]
TEXTS = [
    '"010"', '"08"', '"0x1f"', '"0X1F"', '"0b11"', '"0o17"', '"1.0"', '"1.5"', '"-0x10"', '"1_000"', '" 1"', '"1 "', '"1e3"', '"+5"',
    '"0"', '"00"', '"-0"', '"."', '".5"', '"5."', '"1.00"', '"inf"', '"NaN"', '"-Inf"', '"0x1p4"', '"9223372036854775807"', '"007"',
    '"9223372036854775808"', '"-9223372036854775809"', '"1e400"', '"é"', '"0.0"', '"0x"', '"-"', '"12abc"', '"infinity"', '"1__0"', '"0_7"', '"1.0.0"',
]  # fmt: skip


def cases() -> Iterator[Case]:
    for name in ("int", "int64", "float64", "add1", "add1f", "floor", "ceil", "toDecimal", "max", "minf"):
        yield from call(name, [*VALUES, *TEXTS])
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "mod",
        "max",
        "min",
        "biggest",
        "addf",
        "subf",
        "mulf",
        "divf",
        "maxf",
        "minf",
    ):
        yield from call(name, FEW, FEW)
    yield from grid(
        "types",
        'printf "%T %v" ({0} 7 2) ({0} 7 2)',
        ["add", "sub", "mul", "div", "mod", "max", "min", "addf", "subf", "mulf", "divf", "maxf", "minf"],
    )
    yield from _rounding()
    yield from _sequences()
    yield from grid("print float", "{0}", FLOATS)
    yield from grid("print float", "{0} | toJson", FLOATS)
    yield from grid("print float", 'list {0} | join ","', FLOATS)
    yield from actions("numbers", MORE)


def _rounding() -> Iterator[Case]:
    values = [
        "1.005",
        "2.5",
        "-2.5",
        "123.555",
        "0.5",
        "1e10",
        ".third",
        '"3.14159"',
        "-1.45",
        "true",
        "0.285",
        "1.15",
    ]
    yield from call("round", values, ["0", "1", "2", "3", "-1"])
    yield from call("round", values, ["0", "2"], ["0.1", "0.5", "0.9", "1.0"])


def _sequences() -> Iterator[Case]:
    yield from call("until", ["-3", "-1", "0", "1", "5", "(len .list)"])
    yield from call("untilStep", ["-2", "0", "3"], ["-4", "0", "3", "10"], ["-3", "-1", "0", "1", "4"])
    ends = ["-3", "0", "1", "2", "5"]
    yield from call("seq", ends)
    yield from call("seq", ends, ends)
    yield from call("seq", ["-3", "0", "2"], ["-2", "-1", "0", "1", "2", "5"], ["-3", "0", "2", "7"])
    yield from actions("seq", "seq\nseq 1 2 3 4\nseq 1 1 1 1 1\nseq 0 0 5\nseq (list 1)")


FLOATS = [
    "1.0", "100.0", "100000.0", "1000000.0", "1234567.0", "123456.789", "12345678.9", "1e20", "1e21", "1e22", "123456789012345680000.0",
    "0.1", "0.001", "0.0001", "0.00001", "0.000001", "0.0000001", "1e-5", "1.5e-9", "3.0e300", "1e308", "5e-324", "-0.0", "2.50", "1e6",
    "999999.0", "999999.5", "9999999.0", "0.30000000000000004", "1.7976931348623157e308", "4.9e-324", "33.333333333333336", "16777216.0",
    "(divf 1 3)", "(divf 2 3)", "(mulf 1.1 1.1)", "(addf 0.1 0.2)", "(divf 1 0.000001)", "(float64 \"inf\")", "(float64 \"nan\")", "(float64 \"-inf\")",
    ".n", ".f", ".million", ".tiny", ".big", ".third", "(mulf 1e300 1e300)", "(float64 \"1e400\")", "(float64 1)", "(int64 1000000)", "1000000",
]  # fmt: skip
MORE = r"""
add
add 1
add 1 2 3 4
add "1" "2"
add 1.9 1.9
add -1.9
add 9223372036854775807 1
sub -9223372036854775808 1
mul 9223372036854775807 2
mul 3037000500 3037000500
div -9223372036854775808 -1
mod -9223372036854775808 -1
div 1 0
mod 1 0
div 7 "x"
divf 1 0
divf 0 0
div -7 2
mod -7 2
div 7 -2
mod 7 -2
mul 2
mulf 2
divf 2
subf 2
mulf 1.5 1.5 1.5
subf 10 0.1 0.2
addf 0.1 0.2 0.3
addf
addf 1e15 0.1
mulf 0.1 3
divf 10 3
divf 1 3 | mulf 3
divf 1e10 7
divf 22 7 | round 3
add1 9223372036854775807
add1f 0.1
add1f "x"
max
max 1 5 3
max 1.9 1.2
min 3 1 2
maxf 1.5 "2.5"
minf 1.5 -2
maxf (float64 "nan") 1
minf 0.0 -0.0
floor -1.5
ceil -1.5
floor "1.7"
ceil 1e300
floor 9007199254740993
floor .list
round 123.4567 2
round -123.4567 2
round 3.5 0 0.4
round "x" 2
round 1 (int64 2)
round 1.55 1
round 1e300 10
round 5 400
round 5 -400
int 3.99
int -3.99
int "3.99"
int 1e19
int .big
int (float64 "nan")
int (float64 "inf")
int64 1e19
int64 -1e19
int true
int "true"
int nil
int (list 1)
int "0x7fffffffffffffff"
int "0x8000000000000000"
float64 "0x1p-2"
float64 "1_000"
float64 true
float64 "true"
float64 9223372036854775807
float64 (int64 9007199254740993)
toDecimal 777
toDecimal "0777"
toDecimal 888
toDecimal 7.0
toDecimal -17
toDecimal "-17"
toDecimal .n
atoi "3" | until
until (int "3")
until (int64 3)
until (add 1 2)
until 3.0
until 2.5
until .n
until (.n | int)
repeat (int64 2) "a"
indent (add 1 1) "a"
trunc (sub 5 2) "abcdef"
trunc (int (sub 5 2)) "abcdef"
len .s | add 1
len .s | until | len
mul .n .n
div .n 2
mod .n 4
divf .n 2
sub .n .f
add .n .f
add .million 1
printf "%d" (add .million 1)
printf "%v" .million
.million | int
.million | int64
.million | toString
.million | quote
mul .million .million
mulf .million .million
add 'a' 1
add 0x10 0b11 0o17 017 1_000
"""
