from __future__ import annotations

import io

import pytest

from steward.local.progress import Lines, Share, describe, spent


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_lines_tell_a_new_activity_at_once_and_a_long_one_every_so_often() -> None:
    clock, stream = Clock(), io.StringIO()
    lines = Lines(stream, interval=15, clock=clock)
    lines.report("building x", Share(0, "packages", 10))
    clock.now += 14
    lines.report("building x", Share(5, "packages", 10))
    clock.now += 1
    lines.report("building x", Share(6, "packages", 10))
    lines.report("starting x")
    assert stream.getvalue().splitlines() == [
        "building x: 0 of 10 packages",
        "building x: 6 of 10 packages (15 s)",
        "starting x",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.9, "59 s"), (60, "1 min 00 s"), (605, "10 min 05 s")]
)
def test_time_spent(seconds: float, text: str) -> None:
    assert spent(seconds) == text


def test_a_share_without_a_total() -> None:
    assert describe("fetching", Share(1200, "modules"), 0.2) == "fetching: 1,200 modules"
