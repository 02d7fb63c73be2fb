"""The case tables. A module is an area: it has `cases()`, and its answers are recorded under its name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from ..case import Case

AREAS = (
    "arguments",
    "builtins",
    "comparison",
    "constructs",
    "crypto",
    "data",
    "dates",
    "defaulted",
    "defaults",
    "dicts",
    "encoding",
    "errors",
    "found",
    "fuzzed",
    "lists",
    "literals",
    "methods",
    "missing_keys",
    "numbers",
    "operator",
    "paths",
    "pipelines",
    "positions",
    "printing",
    "regexes",
    "semvers",
    "strings",
    "types",
    "urls",
)


def cases(area: str) -> Iterator[Case]:
    """Each template once: tables overlap where that keeps them simple."""
    seen: set[Case] = set()
    for case in import_module(f"{__name__}.{area}").cases():
        if case not in seen:
            seen.add(case)
            yield case
