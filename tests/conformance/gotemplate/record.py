"""Asks Go for every case and writes the answers down: `python -m tests.conformance.gotemplate.record [AREA ...]`.

Every case is asked twice. An answer that differs has the clock, chance or an address in it: such a case is refused,
and so is one that takes Go down, since nobody could say what the right answer is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .case import RECORDED, Answer, Case, write
from .reference import Reference, required
from .tables import AREAS, cases


def main(areas: Sequence[str]) -> int:
    refused = 0
    with Reference(required()) as go:
        for area in areas or AREAS:
            asked = list(cases(area))
            answers = go.answers(asked)
            faults = _faults(asked, answers, go.answers(asked))
            refused += len(faults)
            print(f"{area}: {len(asked)} cases", *faults, sep="\n  ")
            write(RECORDED / f"{area}.jsonl", zip(asked, answers, strict=True))
    return 1 if refused else 0


def _faults(asked: list[Case], first: list[Answer], second: list[Answer]) -> list[str]:
    return [
        f"refused, {one.crash or 'its answer changes'}: {case.tpl!r}"
        for case, one, two in zip(asked, first, second, strict=True)
        if one.crash or one != two
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
