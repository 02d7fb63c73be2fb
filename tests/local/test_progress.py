from __future__ import annotations

import io

import pytest

from steward.local.progress import ProgressCount, ProgressLines, describe_duration, describe_progress


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_new_activity_is_printed_at_once_and_a_long_one_at_intervals() -> None:
    clock, stream = Clock(), io.StringIO()
    lines = ProgressLines(stream, interval=15, clock=clock)
    lines.report("building x", ProgressCount(0, "packages", 10))
    clock.now += 14
    lines.report("building x", ProgressCount(5, "packages", 10))
    clock.now += 1
    lines.report("building x", ProgressCount(6, "packages", 10))
    lines.report("starting x")
    assert stream.getvalue().splitlines() == [
        "building x: 0 of 10 packages",
        "building x: 6 of 10 packages (15 s)",
        "starting x",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.9, "59 s"), (60, "1 min 00 s"), (605, "10 min 05 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert describe_duration(seconds) == text


def test_a_count_without_a_total() -> None:
    assert describe_progress("fetching", ProgressCount(1200, "modules"), 0.2) == "fetching: 1,200 modules"
