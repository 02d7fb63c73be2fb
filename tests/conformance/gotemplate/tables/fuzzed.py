"""A sample of what the fuzzer asks, over the fixture: it stands in for the fuzzer where there is no Go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..case import FIXTURE, Case
from ..grammar import pair

_PAIRS = 500


def cases() -> Iterator[Case]:
    for number in range(_PAIRS):
        yield replace(pair(0, number, FIXTURE), group=f"{number // 100:02}")
