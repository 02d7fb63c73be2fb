"""`steward tree`: what grew out of each cluster and each registry. Problems unfold, what is well folds."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.inspect.object_tree import Branch, Health
from steward.cli.inspect.options import NEEDS, found_families, looking_options
from steward.cli.inspect.render import Line, drawn, whole
from steward.cli.output import WIDE, is_for_programs, output_option, print_value

_COLOURS = {Health.READY: "green", Health.WAITING: "yellow", Health.FAILED: "red"}
_PERIOD = 2.0
_EPILOG = f"""\b
Examples:
  steward tree -n shop
  steward tree -A --watch
  steward tree -n shop -o wide
\b
Exit codes: 0 it was drawn, whatever it shows.
{NEEDS}"""


@click.command("tree", epilog=_EPILOG)
@click.option("-w", "--watch", is_flag=True, help="Draw it again every two seconds, until Ctrl-C.")
@output_option
@looking_options
def command(watch: bool, output: str, **given: Any) -> None:
    """Draw clusters, registries and what grew out of them."""
    if is_for_programs(output):
        return print_value([_plain(branch) for branch in found_families(given)], output)
    while True:
        found = found_families(dict(given))
        lines = drawn(found, time.time(), whole) if output == WIDE else drawn(found, time.time())
        if watch:
            click.clear()
        _show(lines)
        if not watch:
            return None
        time.sleep(_PERIOD)


def _plain(branch: Branch) -> dict[str, Any]:
    member = branch.member
    return {
        "kind": member.ref.kind.kind,
        "namespace": member.ref.key.namespace,
        "name": member.ref.key.name,
        "health": member.health.name.lower(),
        **({"message": member.message} if member.message else {}),
        **({"children": [_plain(child) for child in branch.children]} if branch.children else {}),
    }


def _show(lines: list[Line]) -> None:
    if not lines:
        click.echo("There is no MultigresCluster and no TenantRegistry here. Elsewhere? Try -A.")
    for line in lines:
        click.secho(line.text, fg=_COLOURS[line.health])
