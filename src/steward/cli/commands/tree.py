"""`steward tree`: draws the objects of clusters and registries; healthy siblings are folded."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.inspect.object_tree import Health, TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options
from steward.cli.inspect.render import TreeLine, render_trees, unfolded
from steward.cli.output import WIDE, is_machine_readable, output_option, print_value

_COLOURS = {Health.READY: "green", Health.WAITING: "yellow", Health.FAILED: "red"}
_PERIOD_SECONDS = 2.0
_EPILOG = f"""\b
Examples:
  steward tree -n shop
  steward tree -A --watch
  steward tree -n shop -o wide
\b
Exit codes: 0 done, whatever the health of the objects.
{NEEDS}"""


@click.command("tree", epilog=_EPILOG)
@click.option("-w", "--watch", is_flag=True, help="Draw it again every two seconds, until Ctrl-C.")
@output_option
@scope_options
def command(watch: bool, output: str, **options: Any) -> None:
    """Draw clusters and registries with the objects created for them."""
    if is_machine_readable(output):
        return print_value([_node_dict(node) for node in read_selected_trees(options)], output)
    while True:
        found = read_selected_trees(dict(options))
        lines = (
            render_trees(found, time.time(), unfolded) if output == WIDE else render_trees(found, time.time())
        )
        if watch:
            click.clear()
        _print_lines(lines)
        if not watch:
            return None
        time.sleep(_PERIOD_SECONDS)


def _node_dict(node: TreeNode) -> dict[str, Any]:
    obj = node.object
    return {
        "kind": obj.ref.kind.kind,
        "namespace": obj.ref.key.namespace,
        "name": obj.ref.key.name,
        "health": obj.health.name.lower(),
        **({"message": obj.message} if obj.message else {}),
        **({"children": [_node_dict(child) for child in node.children]} if node.children else {}),
    }


def _print_lines(lines: list[TreeLine]) -> None:
    if not lines:
        click.echo("There is no MultigresCluster and no TenantRegistry here; -A shows all namespaces.")
    for line in lines:
        click.secho(line.text, fg=_COLOURS[line.health])
