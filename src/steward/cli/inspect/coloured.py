"""Prints lines of which only the mark has a colour: whole sentences in yellow cannot be read on white."""

from __future__ import annotations

import click

from steward.cli.inspect.object_health import Health
from steward.cli.inspect.render import MARKS, TreeLine
from steward.cli.output import wrap_for_terminal

_COLOURS = {Health.READY: "green", Health.WAITING: "yellow", Health.FAILED: "red"}


def echo_line(line: TreeLine) -> None:
    """On a terminal, a long line is wrapped between words."""
    first, *others = wrap_for_terminal(line.text)
    click.echo(styled(line._replace(text=first)))
    for text in others:
        click.echo(text)


def styled(line: TreeLine) -> str:
    """The line with its first mark in the colour of its health."""
    mark = next((each for each in (*MARKS.values(), "!") if each in line.text.split()), "")
    before, found, after = line.text.partition(mark) if mark else (line.text, "", "")
    return before + (click.style(found, fg=_COLOURS[line.health], bold=True) if found else "") + after
