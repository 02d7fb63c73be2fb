"""`steward tree`: what grew out of each cluster and each registry. Problems unfold, what is well folds."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.looking.drawing import Line, drawn
from steward.cli.looking.family import Health
from steward.cli.looking.options import NEEDS, found_families, looking_options

_COLOURS = {Health.READY: "green", Health.WAITING: "yellow", Health.FAILED: "red"}
_PERIOD = 2.0
_EPILOG = f"""\b
Examples:
  steward tree -n shop
  steward tree -A --watch
{NEEDS}"""


@click.command("tree", epilog=_EPILOG)
@click.option("-w", "--watch", is_flag=True, help="Draw it again every two seconds, until Ctrl-C.")
@looking_options
def command(watch: bool, **given: Any) -> None:
    """Draw clusters, registries and what grew out of them."""
    while True:
        lines = drawn(found_families(dict(given)), time.time())
        if watch:
            click.clear()
        _show(lines)
        if not watch:
            return
        time.sleep(_PERIOD)


def _show(lines: list[Line]) -> None:
    if not lines:
        click.echo("There is no MultigresCluster and no TenantRegistry here. Elsewhere? Try -A.")
    for line in lines:
        click.secho(line.text, fg=_COLOURS[line.health])
