from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from steward.cli.screen import LiveLine, progress_shown
from steward.local.progress import Lines, Share


@pytest.mark.parametrize("width", [12, 40, 200])
def test_the_live_line_is_one_line_however_narrow_the_terminal(width: int) -> None:
    line = LiveLine()
    line.report("building controlplane 1.36.3", Share(812, "packages", 2722))
    console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    console.print(line.render())
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue().rstrip("\n")
    assert "\n" not in shown
    assert len(shown) <= width
    assert "buil" in shown


def test_without_a_terminal_there_are_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_shown() as progress:
        assert isinstance(progress, Lines)
