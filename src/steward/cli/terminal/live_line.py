"""How slow work looks: one live line on a terminal, plain lines everywhere else.

The live line is drawn by rich, which is imported only where there is a terminal to draw on. It is cut to the width of
the terminal, never wrapped, and leaves nothing behind.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from steward.local.progress import Lines, Progress, Share, describe

if TYPE_CHECKING:
    from rich.text import Text

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_A_SECOND = 8


@contextmanager
def progress_shown() -> Iterator[Progress]:
    """A place to report to; what is shown goes to standard error, so that standard output holds results only."""
    if not (can_redraw(sys.stdout) and can_redraw(sys.stderr)):
        yield Lines(sys.stderr)
        return
    from rich.console import Console
    from rich.live import Live

    line = LiveLine()
    console = Console(stderr=True)
    with Live(get_renderable=line.render, console=console, refresh_per_second=8, transient=True):
        yield line


def can_redraw(stream: TextIO) -> bool:
    """Whether what was drawn there can be drawn over: a terminal, and one that has a cursor to move."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


class LiveLine:
    """The activity that goes on now; the time it has taken is counted when it is drawn."""

    def __init__(self) -> None:
        self._activity = ""
        self._share: Share | None = None
        self._began = time.monotonic()

    def report(self, activity: str, share: Share | None = None) -> None:
        if activity != self._activity:
            self._activity, self._began = activity, time.monotonic()
        self._share = share

    def render(self) -> Text:
        from rich.text import Text

        now = time.monotonic()
        frame = _FRAMES[int(now * _FRAMES_A_SECOND) % len(_FRAMES)]
        text = describe(self._activity, self._share, now - self._began)
        # Not a table with rich's own spinner: where it is narrow, that is left out.
        return Text(f"{frame} {text}" if self._activity else "", no_wrap=True, overflow="ellipsis")
