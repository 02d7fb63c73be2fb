"""How slow work looks: one live line on a terminal, plain lines everywhere else.

The live line is drawn by rich, which is imported only where there is a terminal to draw on. It is cut to the width of
the terminal, never wrapped, and leaves nothing behind.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steward.local.progress import Lines, Progress, Share, describe

if TYPE_CHECKING:
    from rich.console import RenderableType


@contextmanager
def progress_shown() -> Iterator[Progress]:
    """A place to report to; what is shown goes to standard error, so that standard output holds results only."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield Lines(sys.stderr)
        return
    from rich.console import Console
    from rich.live import Live

    line = LiveLine()
    console = Console(stderr=True)
    with Live(get_renderable=line.render, console=console, refresh_per_second=8, transient=True):
        yield line


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

    def render(self) -> RenderableType:
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        if not self._activity:
            return Text()
        row = Table.grid(padding=(0, 1))
        row.add_column()
        row.add_column(no_wrap=True, overflow="ellipsis")
        text = describe(self._activity, self._share, time.monotonic() - self._began)
        row.add_row(Spinner("dots"), Text(text, no_wrap=True, overflow="ellipsis"))
        return row
