"""default, empty, coalesce, ternary, all, any: what counts as empty, and what an argument that is not there does."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call

VALUES = [
    "0", "1", "0.0", "2.5", '""', '"a"', '"0"', "true", "false", ".null", "nil", "(list)", "(list nil)", "(dict)", '(dict "a" nil)', "(first .el)", "(rest (list))",
    '(toDate "2006" "x")', '(semver "0.0.0")', "0i", "1i", "(int64 0)", "'a'", ".el", ".em", ".n", ".zero", ".list", "(until 0)", '(split "," "")', "(index .s 0)",
]  # fmt: skip


def cases() -> Iterator[Case]:
    yield from call("empty", VALUES)
    yield from call("default", ['"d"', "5", "nil", "(list 1)"], VALUES)
    yield from call("coalesce", VALUES[:14], VALUES[:12])
    for name in ("all", "any"):
        yield from call(name, VALUES)
        yield from call(name, VALUES[:10], VALUES[:6])
    yield from call(
        "ternary",
        ['"y"', "nil", ".null"],
        ['"n"', "1"],
        ["true", "false", ".t", ".no", "(eq 1 1)", "(empty .s)", ".n", ".null"],
    )
    yield from actions("defaults", MORE)


MORE = r"""
default
default "d"
default "d" .s .n
.e | default "d"
.null | default "d"
(first .el) | default "d"
.s | default "d"
.zero | default 5
.no | default true
.el | default (list 1)
.missing | default "d"
default .missing "d"
default "d" .m.nope
default "d" .missing.x
index . "missing" | default "d"
get . "missing" | default "d"
dig "a" "b" "d" .
default "a" "" | default "b"
.e | default .null | default "c"
coalesce
coalesce nil
coalesce .null "" 0 "x" "y"
coalesce .missing "x"
coalesce (list) (dict) false
coalesce (list) (dict) false | toString
empty
empty 1 2
empty nil
empty .missing
empty .null
empty (semver "0.0.0")
all
any
all 1 "a" true
all 1 "" true
any 0 "" (list 1)
any nil .null
ternary
ternary 1
ternary 1 2
ternary 1 2 3
true | ternary "y"
.t | ternary .null "n"
ternary .missing 1 true
not (empty .s)
empty .s | not | ternary 1 2
"""
