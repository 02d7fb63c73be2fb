"""Both engines on the same random pairs: `python -m tests.conformance.gotemplate.fuzz --pairs 200000 --seed 7`.

A difference that no rule of `explained` covers is made small and printed; with --keep it is also added to the found
cases, which become recorded ones with `record found`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from . import ours
from .case import Answer, Case
from .explained import explanation
from .grammar import pair
from .reference import Engine, Reference, required
from .shrink import shrink
from .tables import found

_BATCH = 2000


@dataclass(slots=True)
class Difference:
    case: Case
    go: Answer
    ours: Answer

    def __str__(self) -> str:
        opts = " ".join(f"{name}={value}" for name, value in self.case.opts)
        data = self.case.data or "the fixture"
        asked = f"  template {self.case.tpl!r}\n  data     {data} {opts}"
        return f"{asked}\n  go       {self.go}\n  ours     {self.ours}"


@dataclass(slots=True)
class Report:
    pairs: int = 0
    errors: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)


def compare(cases: Sequence[Case], go: Engine, report: Report) -> None:
    for case, right in zip(cases, go.answers(cases), strict=True):
        mine = ours.answer(case)
        report.pairs += 1
        report.errors += right.err is not None
        if mine == right and right.crash is None:
            continue
        if reason := explanation(case, right, mine):
            report.explained[reason] += 1
        else:
            report.differences.append(Difference(case, right, mine))


def smallest(difference: Difference, go: Engine) -> Difference:
    def differs(cases: Sequence[Case]) -> list[bool]:
        answers = zip(cases, go.answers(cases), strict=True)
        return [_unexplained(case, right, ours.answer(case)) for case, right in answers]

    case = replace(shrink(difference.case, differs), group="found")
    return Difference(case, go.answers([case])[0], ours.answer(case))


def _unexplained(case: Case, go: Answer, mine: Answer) -> bool:
    return (mine != go or go.crash is not None) and explanation(case, go, mine) is None


def run(pairs: int, seed: int, go: Engine) -> Iterator[Report]:
    """The report as it grows, after each batch."""
    report = Report()
    for start in range(0, pairs, _BATCH):
        numbers = range(start, min(start + _BATCH, pairs))
        compare([pair(seed, number) for number in numbers], go, report)
        yield report


def main(argv: Sequence[str]) -> int:
    options = _options(argv)
    shown = 0
    began = time.monotonic()
    with Reference(required()) as go:
        for report in run(options.pairs, options.seed, go):
            for difference in report.differences[shown : options.most]:
                small = smallest(difference, go)
                print(f"difference {shown + 1}:\n{small}\n", flush=True)
                shown += 1
                if options.keep:
                    found.add(small.case)
            if len(report.differences) >= options.most:
                break
    _summary(report, time.monotonic() - began, options.seed)
    return 1 if report.differences else 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description="Compare Steward's template engine with Go's.")
    parser.add_argument("--pairs", type=int, default=200_000, help="how many templates to try")
    parser.add_argument("--seed", type=int, default=1, help="the same seed tries the same templates")
    parser.add_argument("--most", type=int, default=25, help="stop after so many differences")
    parser.add_argument("--keep", action="store_true", help="add what is found to the found cases")
    return parser.parse_args(argv)


def _summary(report: Report, seconds: float, seed: int) -> None:
    print(f"{report.pairs} pairs (seed {seed}), {report.errors} of them errors in Go, in {seconds:.0f} s")
    for reason, count in report.explained.most_common():
        print(f"  explained: {count} times {reason}")
    print(f"  unexplained: {len(report.differences)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
