"""Small words for big tables: a grid is every combination of its columns, a column is a list of template expressions."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from ..case import Case, case

INTS = ["0", "1", "-1", "3", "5", "100", "-100"]
STRINGS = ['""', '"a"', '"hello world"', '"héllo ✓ 日本"', '"  pad\\t\\n"', ".s", ".u"]
NUMBERS = ["0", "7", "-3", "2.5", ".n", ".f", '"42"', '"x"', "(int64 9)", "true", ".null"]
LISTS = [
    ".list",
    ".nums",
    ".mixed",
    ".el",
    ".dup",
    "(list)",
    '(list 1 "a" 2.5)',
    "(until 4)",
    '(splitList "," "b,a,b")',
]
DICTS = [".m", ".em", "(dict)", '(dict "a" 1 "b" (list 2))', '(dict "c" (dict "d" 9))']

# One expression for every kind of value that a template can come by; the wrong ones are the point.
ODD = [
    ".null",
    "(first .el)",
    "true",
    "-1",
    "2.0",
    "2.5",
    ".n",
    "(int64 3)",
    '""',
    '"3"',
    '"é"',
    '(b64dec "/2E=")',
    ".mixed",
    "(list)",
    "(until 2)",
    '(splitList "," "b,a")',
    ".m",
    "(dict)",
    '(split "," "x,y")',
    '(toDate "2006-01-02" "2024-02-29")',
    '(semver "1.2.3")',
    "'a'",
    "1i",
    "9223372036854775807",
    "(rest (list))",
]

# For a parameter with a type of its own most of these end in the same error: a few stand for all.
ODD_TYPED = [
    ".null",
    "(first .el)",
    "true",
    "2.0",
    "2.5",
    ".n",
    "(int64 3)",
    '"3"',
    "'a'",
    ".list",
    ".m",
    "$",
    "nil",
]


def grid(group: str, form: str, *columns: Iterable[str], **opts: str) -> Iterator[Case]:
    """`form` has {0}, {1} for the columns; it is put between the delimiters."""
    for row in product(*columns):
        yield case(group, "{{ " + form.format(*row) + " }}", **opts)


def call(name: str, *columns: Iterable[str], **opts: str) -> Iterator[Case]:
    places = " ".join(f"{{{n}}}" for n in range(len(columns)))
    yield from grid(name, f"{name} {places}".rstrip(), *columns, **opts)


def actions(group: str, text: str, **opts: str) -> Iterator[Case]:
    """One action a line: what stands between the delimiters."""
    for line in lines(text):
        yield case(group, "{{ " + line + " }}", **opts)


def templates(group: str, text: str, **opts: str) -> Iterator[Case]:
    """One whole template a line; \\n stands for a line break."""
    for line in lines(text):
        yield case(group, line.replace("\\n", "\n"), **opts)


def lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.strip().splitlines() if line.strip())
