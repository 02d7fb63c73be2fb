"""Steward's template engine compared with Go's: parsing and rendering of a dozen templates, same data, same run.

Go fills its function table for each parse, as the Go operator does for every string; ours is timed without its cache.
`ready` is parsing and compiling: the additional cost of the first rendering of a new template. Times are CPU times, so
that other processes do not count.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from tests.conformance.gotemplate.reference import required

from bench.gotemplate.templates import DATA, TEMPLATES
from steward.gotemplate import Template, from_json, parse

RESULT = Path(__file__).parent.parent / "results" / "gotemplate.json"
_ROUND = 0.04
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """Microseconds, and the ratios of ours to Go's."""

    name: str
    go_parse: float
    parse: float
    ready: float
    go_render: float
    render: float

    @property
    def parse_ratio(self) -> float:
        return self.parse / self.go_parse

    @property
    def render_ratio(self) -> float:
        return self.render / self.go_render


def main(argv: Sequence[str]) -> int:
    rows = [_row(name, source) for name, source in TEMPLATES.items()]
    print(_table(rows))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    print(f"as JSON: {RESULT.relative_to(Path.cwd()) if RESULT.is_relative_to(Path.cwd()) else RESULT}")
    return 0


def _row(name: str, source: str) -> Row:
    go_parse, go_render = _go_times(source)
    uncached: Callable[[str], Template] = parse.__wrapped__
    data = from_json(json.dumps(DATA))
    compiled = uncached(source)
    compiled.render(data)
    return Row(
        name,
        go_parse,
        best(lambda: uncached(source)),
        best(lambda: uncached(source).render(data)) - best(lambda: compiled.render(data)),
        go_render,
        best(lambda: compiled.render(data)),
    )


def _go_times(source: str) -> tuple[float, float]:
    line = json.dumps({"id": 0, "tpl": source, "data": DATA})
    done = subprocess.run([required(), "measure"], input=line, capture_output=True, text=True, check=True)
    times = json.loads(done.stdout)
    return times["parse_ns"] / 1000, times["exec_ns"] / 1000


def best(work: Callable[[], object]) -> float:
    """Microseconds per call: the count doubles until a round is long enough; the fastest of several rounds."""
    count = 1
    while _timed(work, count) < _ROUND:
        count *= 2
    return min(_timed(work, count) for _ in range(_ROUNDS)) / count * 1e6


def _timed(work: Callable[[], object], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        work()
    return time.process_time() - start


def _table(rows: Sequence[Row]) -> str:
    head = f"{'µs':<16}{'parse: Go':>10}{'ours':>9}{'ratio':>7}{'ready':>10}"
    head += f"   {'render: Go':>10}{'ours':>9}{'ratio':>7}"
    lines = [_line(row) for row in rows]
    parses, renders = [row.parse_ratio for row in rows], [row.render_ratio for row in rows]
    worst = f"median and worst ratio: parse {median(parses):.2f} and {max(parses):.2f} (target: at most 5), "
    return "\n".join(
        [
            head,
            *lines,
            worst + f"render {median(renders):.2f} and {max(renders):.2f} (target: at most 1 and 2)",
        ]
    )


def _line(row: Row) -> str:
    parsing = f"{row.go_parse:>10.1f}{row.parse:>9.1f}{row.parse_ratio:>7.2f}{row.ready:>10.1f}"
    return f"{row.name:<16}{parsing}   {row.go_render:>10.2f}{row.render:>9.2f}{row.render_ratio:>7.2f}"
