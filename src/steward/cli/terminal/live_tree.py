"""Shows the progress of object trees until they are ready: live on a terminal, as lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.progress import ScreenSize, TreeProgress
from steward.cli.inspect.render import MARKS
from steward.cli.terminal.live_line import can_redraw

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_PERIOD_SECONDS = 0.5
_STYLES = {Health.READY: "green", Health.WAITING: "yellow", Health.FAILED: "red"}
ReadTrees = Callable[[], Awaitable[tuple[TreeNode, ...]]]


class Screen(Protocol):
    def show(self, progress: TreeProgress, completed: list[str], seconds: float) -> None: ...


class LineScreen:
    """Prints one line per completed kind, for logs and pipes."""

    def show(self, progress: TreeProgress, completed: list[str], seconds: float) -> None:
        for line in completed:
            print(line, flush=True)


class LiveScreen:
    """Redrawn by rich several times a second, so that times advance between two reads of the cluster."""

    def __init__(self) -> None:
        self._progress = TreeProgress()
        self._began = time.monotonic()

    def show(self, progress: TreeProgress, completed: list[str], seconds: float) -> None:
        self._progress = progress
        self._began = time.monotonic() - seconds

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        # One line less than the terminal has: the cursor is below the last line.
        size = ScreenSize(options.max_width, console.height - 1)
        for line in self._progress.render(time.monotonic() - self._began, size):
            text = Text(line.text, no_wrap=True, overflow="ellipsis")
            text.stylize(_STYLES[line.health], 0, len(MARKS[line.health]))
            yield text


@contextmanager
def open_screen(console: Console | None) -> Iterator[Screen]:
    """A screen for the console; the last frame stays on the terminal."""
    if console is None:
        yield LineScreen()
        return
    from rich.live import Live

    screen = LiveScreen()
    with Live(screen, console=console, refresh_per_second=4, vertical_overflow="ellipsis"):
        yield screen


def terminal_console() -> Console | None:
    if not can_redraw(sys.stdout):
        return None
    from rich.console import Console

    return Console(highlight=False)


async def watch_until_ready(read_trees: ReadTrees, screen: Screen, limit: float) -> tuple[TreeNode, ...]:
    """Shows progress until all trees are healthy or failed, or `limit` seconds are over; returns the last read."""
    progress, began = TreeProgress(), time.monotonic()
    while True:
        trees = await read_trees()
        seconds = time.monotonic() - began
        screen.show(progress, progress.update(trees, seconds), seconds)
        if seconds > limit or (trees and not any(map(_is_progressing, trees))):
            return trees
        await asyncio.sleep(_PERIOD_SECONDS)


def _is_progressing(node: TreeNode) -> bool:
    """Whether the tree may become healthy by itself; failed or held objects need a user."""
    if node.is_healthy:
        return False
    return not any(obj.health is Health.FAILED for obj in node.walk())
