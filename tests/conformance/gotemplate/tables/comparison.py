"""eq and its kin: which kinds compare, what each refusal says."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call

VALUES = [
    "1", "-1", "1.0", "2.5", '"1"', '"a"', "true", ".n", ".null", "nil", "(int64 1)", "'a'", "1i", ".list", ".m", "(until 1)",
    '(toDate "2006" "2024")', '(semver "1.2.3")', "(first .el)", "(index .s 0)",
]  # fmt: skip
ORDERED = ["lt", "le", "gt", "ge"]


def cases() -> Iterator[Case]:
    for name in ("eq", "ne", "lt"):
        yield from call(name, VALUES, VALUES)
    few = ["1", "2.5", '"a"', "true", ".n", ".null", "(int64 3)", ".list"]
    for name in ORDERED[1:]:
        yield from call(name, few, few)
    for name in ORDERED:
        yield from call(name, ["1", "2", "3"], ["1", "2", "3"])
        yield from call(name, ['"a"', '"b"', '"é"', '"B"', '""'], ['"a"', '"b"', '"é"', '"B"'])
        yield from call(
            name, ["1.5", ".f", ".n", "-0.0", '(float64 "nan")'], ["1.5", "2.5", "7.0", '(float64 "nan")']
        )
        yield from call(
            name, ["(index .s 0)", "1", "-1", "(int64 -5)"], ["(index .s 1)", "104", "-104", "(int64 104)"]
        )
    yield from actions("comparison", MORE)


MORE = r"""
eq
eq 1
eq 1 1 1
eq 1 2 3 1
eq 1 2 "a"
eq 1 1 "a"
eq "a" "b" "c" "a"
eq .n 7
eq .n 7.0
eq .n .n
eq .s "hello world"
eq nil
eq nil nil
eq nil 1
eq .null nil
eq .null .null
eq .null 1
eq 1 nil
eq 1 .null
eq .list .list
eq .list nil
eq .m nil
eq nil .list
eq (list) nil
eq (rest (list)) nil
eq .m .m
eq (dict) (dict)
eq .list 1
eq 1 .list
eq true true
eq true 1
eq true "true"
eq (list 1) (list 1)
eq (until 1) (until 1)
eq (toDate "2006" "2024") (toDate "2006" "2024")
eq (toDate "2006" "2024") (toDate "2006" "2023")
eq (semver "1.2.3") (semver "1.2.3")
eq (len .s) 11
eq (len .s) 11.0
eq (int64 1) 1
eq (index .s 0) 104
eq (index .s 0) 104 5
eq 1i 1i
eq 1i 1
ne
ne 1
ne 1 2
ne 1 2 3
ne "a" "a"
ne .n 7
ne nil nil
ne nil 1
ne .null .null
ne .list .list
ne .m nil
lt
lt 1
lt 1 2 3
lt 1 2.0
lt 1.0 2
lt true false
lt nil 1
lt 1 nil
lt .null 1
lt .list .list
lt .m 1
lt "a" 1
lt 1 "a"
lt 1i 1i
lt .n 8
lt .n 8.0
le .n 7.0
gt .n 6.9
ge .n 7.0
gt (len .list) 2
gt (len .list) .n
gt (int .n) 6
lt -1 (index .s 0)
gt (index .s 0) -1
eq -1 (index .s 0)
eq .n (float64 7)
eq (add 3 4) 7
eq (toString 7) "7"
1 | eq 1
1 | eq 1 2
2 | lt 1
.n | eq 7.0
eq .missing 1
eq 1 .missing
"""
