"""Watches trees grow until all of them are ready: a live picture on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from steward.cli.inspect.object_tree import Branch, Health
from steward.cli.inspect.progress import Growth, Room
from steward.cli.terminal.live_line import can_redraw

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_PERIOD_SECONDS = 0.5
_STYLES = {Health.READY: "green", Health.WAITING: "yellow", Health.FAILED: "red"}
Look = Callable[[], Awaitable[tuple[Branch, ...]]]


class Screen(Protocol):
    def show(self, growth: Growth, news: list[str], seconds: float) -> None: ...


class LineScreen:
    """For logs and pipes."""

    def show(self, growth: Growth, news: list[str], seconds: float) -> None:
        for line in news:
            print(line, flush=True)


class Picture:
    """Drawn by rich whenever it likes; what is seen changes less often than the clock."""

    def __init__(self) -> None:
        self._growth = Growth()
        self._began = time.monotonic()

    def show(self, growth: Growth, news: list[str], seconds: float) -> None:
        self._growth = growth
        self._began = time.monotonic() - seconds

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        # One line less than there are: the cursor stands below the picture.
        room = Room(options.max_width, console.height - 1)
        for line in self._growth.lines(time.monotonic() - self._began, room):
            yield Text(line.text, _STYLES[line.health], no_wrap=True, overflow="ellipsis")


@contextmanager
def screen_for(console: Console | None) -> Iterator[Screen]:
    """The picture stays on the terminal when it is done."""
    if console is None:
        yield LineScreen()
        return
    from rich.live import Live

    picture = Picture()
    with Live(picture, console=console, refresh_per_second=4, vertical_overflow="ellipsis"):
        yield picture


def terminal() -> Console | None:
    if not can_redraw(sys.stdout):
        return None
    from rich.console import Console

    return Console(highlight=False)


async def watch_growth(look: Look, screen: Screen, limit: float) -> tuple[Branch, ...]:
    """Until all is well, or nothing is left to wait for, or the time is over: what was seen last."""
    growth, began = Growth(), time.monotonic()
    while True:
        branches = await look()
        seconds = time.monotonic() - began
        screen.show(growth, growth.see(branches, seconds), seconds)
        if seconds > limit or (branches and not any(map(_is_waiting, branches))):
            return branches
        await asyncio.sleep(_PERIOD_SECONDS)


def _is_waiting(branch: Branch) -> bool:
    """Something goes on by itself; what is held or has failed waits for a person."""
    if branch.is_well:
        return False
    return not any(member.health is Health.FAILED for member in branch.walk())
