"""Progress output: one live line on a terminal, plain lines elsewhere.

The live line is drawn by rich, which is imported only for a terminal. The line is cut to the width of the terminal,
never wrapped, and removed at the end.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from steward.local.progress import Progress, ProgressCount, ProgressLines, describe_progress

if TYPE_CHECKING:
    from rich.text import Text

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_A_SECOND = 8


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Yields a progress reporter that writes to standard error; standard output holds only results."""
    if not (can_redraw(sys.stdout) and can_redraw(sys.stderr)):
        yield ProgressLines(sys.stderr)
        return
    from rich.console import Console
    from rich.live import Live

    line = LiveLine()
    console = Console(stderr=True)
    with Live(get_renderable=line.render, console=console, refresh_per_second=8, transient=True):
        yield line


def can_redraw(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose cursor can be moved."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


class LiveLine:
    """The current activity; its duration is computed when the line is drawn."""

    def __init__(self) -> None:
        self._activity = ""
        self._share: ProgressCount | None = None
        self._began = time.monotonic()

    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        if activity != self._activity:
            self._activity, self._began = activity, time.monotonic()
        self._share = share

    def render(self) -> Text:
        from rich.text import Text

        now = time.monotonic()
        frame = _FRAMES[int(now * _FRAMES_A_SECOND) % len(_FRAMES)]
        text = describe_progress(self._activity, self._share, now - self._began)
        # Not rich's spinner in a table: it disappears on a narrow terminal.
        return Text(f"{frame} {text}" if self._activity else "", no_wrap=True, overflow="ellipsis")
