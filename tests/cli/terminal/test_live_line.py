from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console, Group

from steward.cli.terminal.live_line import LiveLine, can_redraw, show_progress
from steward.local.progress import ProgressCount, ProgressLines


@pytest.mark.parametrize("width", [12, 40, 200])
def test_the_live_line_is_one_line_however_narrow_the_terminal(width: int) -> None:
    line = LiveLine()
    line.report("building controlplane 1.36.3", ProgressCount(812, "packages", 2722))
    console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    console.print(Group(line.render()))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue().rstrip("\n")
    assert "\n" not in shown
    assert len(shown) <= width
    assert "buil" in shown
    assert shown[0] in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def test_without_a_terminal_there_are_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with show_progress() as progress:
        assert isinstance(progress, ProgressLines)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "term", "expected"),
    [
        (Terminal(), "xterm-256color", True),
        (Terminal(), "dumb", False),
        (Terminal(), "", False),
        (io.StringIO(), "xterm-256color", False),
    ],
)
def test_only_a_terminal_with_a_cursor_is_drawn_over(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, term: str, expected: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    assert can_redraw(stream) is expected
