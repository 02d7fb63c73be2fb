"""Prints results as a table on standard output, and writes them as JSON to bench/results/.

Both name the machine and its load: on a busy machine only ratios are meaningful.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.measuring.figures import Figure
from bench.measuring.options import Options

RESULTS = Path(__file__).parent.parent / "results"
HEADINGS = ("figure", "value", "floor", "ratio", "target", "")
_DIVIDER = "─"


@dataclass(frozen=True)
class Machine:
    cores: int
    memory_mb: int
    python: str
    kernel: str

    def __str__(self) -> str:
        return f"{self.cores} cores, {self.memory_mb:,} MB, Python {self.python}"


def this_machine() -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 20)
    return Machine(os.cpu_count() or 1, memory, platform.python_version(), platform.release())


@dataclass
class Report:
    scenario: str
    options: Options
    machine: Machine = field(default_factory=this_machine)
    began: float = field(default_factory=time.time)
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *figures: Figure) -> None:
        self.figures.extend(figures)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def publish(self) -> None:
        load = (self.load_before, os.getloadavg()[0])
        print(f"\n{self.scenario}: {self.machine}; load {load[0]:.1f} before, {load[1]:.1f} after")
        print(table(self.figures))
        for text in self.notes:
            print(f"  {text}")
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.scenario}.json"
        path.write_text(json.dumps(self._as_json(load), indent=1, ensure_ascii=False) + "\n")
        print(
            f"as JSON: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}",
            flush=True,
        )

    def _as_json(self, load: tuple[float, float]) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.began)),
            "seconds": round(time.time() - self.began, 1),
            "machine": asdict(self.machine),
            "load": {"before": load[0], "after": load[1]},
            "options": asdict(self.options),
            "figures": [_figure_as_json(figure) for figure in self.figures],
            "notes": self.notes,
        }


def _figure_as_json(figure: Figure) -> dict[str, Any]:
    target = str(figure.target) if figure.target else None
    return asdict(figure) | {"target": target, "verdict": figure.verdict or None}


def table(figures: Sequence[Figure]) -> str:
    """One line per figure; numbers are right-aligned."""
    rows = [HEADINGS, *map(_cells, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([lines[0], _DIVIDER * max(map(len, lines)), *lines[1:]])


def _cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        f"{number(figure.value)} {figure.unit}",
        "" if figure.floor is None else number(figure.floor),
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        "" if figure.target is None else str(figure.target),
        figure.verdict,
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    parts = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "  ".join(parts).rstrip()


def number(value: float) -> str:
    """Three significant digits: 12,345 and 123 and 12.3 and 1.23 and 0.012."""
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def progress(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)
