"""path and filepath."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import call

PATHS = [
    "", ".", "..", "/", "//", "///", "a", "a/", "/a", "/a/", "a/b", "a//b", "a/./b", "a/../b", "../a", "../../a", "/../a", "a/../../b", "a/b/..", "a.txt", "a.tar.gz", ".hidden", "a/.hidden", "a.", "a.b/c", "/a/b.c/", "é/日.本", "a b/c d",
    "c:\\\\\\\\x\\\\\\\\y", "a/b/../../..", "./a", "a/...", "/.", "/..", "a.b.c", "a/b.", "~/x", "a\\nb/c",
]  # fmt: skip
NAMES = ["base", "dir", "clean", "ext", "isAbs", "osBase", "osDir", "osClean", "osExt", "osIsAbs"]


def cases() -> Iterator[Case]:
    for name in NAMES:
        yield from call(name, [f'"{p}"' for p in PATHS])
