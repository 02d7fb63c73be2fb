"""kindOf, typeOf and the questions built on them."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import ODD, call

MORE = [
    "nil",
    ".s",
    ".n",
    ".list",
    "(add 1 2)",
    "(len .s)",
    "(index .s 0)",
    "(chunk 1 .list)",
    "(dict)",
    "(float64 1)",
    "(keys .m)",
    '(regexFindAll "a" "b" 1)',
    "$",
    '(fromJson "null")',
    "(html 1)",
    "(slice (list) 0)",
    '((toDate "2006" "2024").Month)',
]
TYPES = [
    '"string"',
    '"int"',
    '"int64"',
    '"float64"',
    '"bool"',
    '"[]interface {}"',
    '"map[string]interface {}"',
    '"[]string"',
    '"<nil>"',
    '"time.Time"',
    '"semver.Version"',
    '"*semver.Version"',
]
KINDS = [
    '"string"',
    '"int"',
    '"int64"',
    '"float64"',
    '"bool"',
    '"slice"',
    '"map"',
    '"invalid"',
    '"struct"',
    '"ptr"',
    '"uint8"',
    '"complex128"',
    '"int32"',
]


def cases() -> Iterator[Case]:
    for name in ("typeOf", "kindOf"):
        yield from call(name, [*ODD, *MORE])
    for name in ("typeIs", "typeIsLike"):
        yield from call(
            name,
            TYPES,
            [
                "1",
                '"a"',
                "(int64 1)",
                ".n",
                ".list",
                ".m",
                "nil",
                '(semver "1.2.3")',
                '(toDate "2006" "2024")',
                '(splitList "," "")',
            ],
        )
    yield from call(
        "kindIs",
        KINDS,
        [
            "1",
            '"a"',
            "(int64 1)",
            ".n",
            ".list",
            ".m",
            "nil",
            ".null",
            '(semver "1.2.3")',
            "(index .s 0)",
            "1i",
        ],
    )
