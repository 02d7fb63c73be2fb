"""Worst-case cost of templates: every function with a megabyte of input, and templates written to waste resources.

Each template runs in a forked process: CPU time from parsing to the end, and the growth of memory. An argument N
measures only every Nth. Targets: 100 ms and 50 MB.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.gotemplate.hostile import ROW, TEMPLATES, attacks, data

from steward.gotemplate import Profile, TemplateError, parse
from steward.gotemplate.funcs import function_set

RESULT = Path(__file__).parent / "results" / "gotemplate_hostile.json"
SET = "tenants"
_SHOWN = 10
_WIDTH = 78
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Cost:
    what: str
    milliseconds: float
    megabytes: float


def main(argv: Sequence[str]) -> int:
    step = int(argv[0]) if argv else 1
    costs = [measure_in_child(what, work) for what, work in list(_works())[::step]]
    print(_report(costs))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([asdict(cost) for cost in _worst(costs)], indent=1) + "\n")
    return 0


def _works() -> Iterator[tuple[str, Callable[[], object]]]:
    known = function_set(SET)
    values = data()
    for attack in attacks(SET):
        # Functions of the profile full are available only to users who accept their cost.
        if known[attack.function].profile is Profile.HERMETIC:
            yield attack.source, partial(_render, attack.source, values)
    for source in TEMPLATES:
        yield source, partial(_render, source, ROW)


def _render(source: str, values: Any) -> None:
    with suppress(TemplateError):
        parse(source, functions=SET).render(values)


def measure_in_child(what: str, work: Callable[[], object]) -> Cost:
    """The cost of the work in a forked child, which leaves nothing behind."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, json.dumps(_costs(work)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    seconds, kilobytes = json.loads(text) if text else (float("inf"), float("inf"))
    return Cost(what, seconds * 1000, kilobytes / 1024)


def _costs(work: Callable[[], object]) -> tuple[float, int]:
    gc.freeze()
    # "5" resets the peak memory to the current value.
    Path("/proc/self/clear_refs").write_text("5")
    before = _kilobytes("VmRSS")
    start = time.process_time()
    work()
    return time.process_time() - start, max(_kilobytes("VmHWM") - before, 0)


def _kilobytes(field: str) -> int:
    return next(int(line.split()[1]) for line in _STATUS.read_text().splitlines() if line.startswith(field))


def _worst(costs: Sequence[Cost]) -> list[Cost]:
    slow = sorted(costs, key=lambda cost: -cost.milliseconds)[:_SHOWN]
    large = sorted(costs, key=lambda cost: -cost.megabytes)[:_SHOWN]
    return list(dict.fromkeys([*slow, *large]))


def _report(costs: Sequence[Cost]) -> str:
    lines = [f"{len(costs)} templates; the ten slowest and the ten largest:", f"{'ms':>8}{'MB':>8}"]
    for cost in _worst(costs):
        shown = cost.what if len(cost.what) <= _WIDTH else cost.what[: _WIDTH - 3] + "..."
        lines.append(f"{cost.milliseconds:>8.1f}{cost.megabytes:>8.1f}  {shown}")
    slowest = max(cost.milliseconds for cost in costs)
    largest = max(cost.megabytes for cost in costs)
    lines.append(f"worst: {slowest:.0f} ms and {largest:.0f} MB (target: at most 100 and 50)")
    return "\n".join(lines)
