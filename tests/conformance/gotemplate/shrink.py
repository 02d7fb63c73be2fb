"""Makes a case that differs as small as it can be: first the template by pieces, then the data by keys and items."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .case import FIXTURE, Case

# Checks many cases at once: the reference is far cheaper in batches.
Differ = Callable[[Sequence[Case]], list[bool]]

_PIECES = re.compile(r"\{\{-?|-?\}\}|\"(?:\\.|[^\"\\])*\"|`[^`]*`|\s+|[\w.$]+|.", re.DOTALL)
_ROUNDS = 60
_SHORT = 60


def shrink(case: Case, differs: Differ) -> Case:
    """The smallest case found that still differs; the same case if none is smaller."""
    for _ in range(_ROUNDS):
        smaller = _first(_candidates(case), differs)
        if smaller is None:
            return case
        case = smaller
    return case


def _first(candidates: Iterator[Case], differs: Differ) -> Case | None:
    batch = list(candidates)
    for start in range(0, len(batch), 200):
        some = batch[start : start + 200]
        for candidate, hit in zip(some, differs(some), strict=True):
            if hit:
                return candidate
    return None


def _candidates(case: Case) -> Iterator[Case]:
    yield from _cuts(case, _PIECES.findall(case.tpl))
    if len(case.tpl) < _SHORT:
        yield from _cuts(case, list(case.tpl))
    yield from (replace(case, tpl=tpl) for tpl in _unwrapped(case.tpl))
    yield from (replace(case, data=json.dumps(d, ensure_ascii=False)) for d in _less(_data(case)))


def _cuts(case: Case, pieces: list[str]) -> Iterator[Case]:
    size = len(pieces) // 2
    while size:
        for start in range(0, len(pieces) - size + 1, max(1, size // 2)):
            yield replace(case, tpl="".join(pieces[:start] + pieces[start + size :]))
        size //= 2


def _data(case: Case) -> Any:
    return FIXTURE if case.data is None else json.loads(case.data)


def _unwrapped(source: str) -> Iterator[str]:
    """Without one pair of brackets, with or without what is inside, or with a literal in its place."""
    opened: list[int] = []
    for place, char in enumerate(source):
        if char == "(":
            opened.append(place)
        elif char == ")" and opened:
            start = opened.pop()
            yield source[:start] + source[place + 1 :]
            for literal in ('""', "1", "(list)", "(dict)"):
                if place + 1 - start > len(literal):
                    yield source[:start] + literal + source[place + 1 :]
            yield source[:start] + source[start + 1 : place] + source[place + 1 :]


def _less(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: smaller} for smaller in _less(item))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield value[:place] + value[place + 1 :]
            yield from ([*value[:place], smaller, *value[place + 1 :]] for smaller in _less(item))
    elif isinstance(value, str) and value:
        yield ""
