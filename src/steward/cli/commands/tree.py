"""`steward tree`: draws the objects of clusters and registries; healthy siblings are folded."""

from __future__ import annotations

import shutil
import time
from typing import Any

import click

from steward.cli.hints import with_cluster_options
from steward.cli.inspect.coloured import echo_line
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options
from steward.cli.inspect.render import TreeLine, fit_lines, render_trees, unfolded
from steward.cli.inspect.selection import select_node
from steward.cli.object_names import complete_names
from steward.cli.output import WIDE, is_machine_readable, output_option, print_value

_PERIOD_SECONDS = 2.0
_EPILOG = f"""\b
Examples:
  steward tree -n shop
  steward tree tenant/acme-web -n saas
  steward tree -A --watch
  steward tree -n shop -o wide
\b
Exit codes: 0 done, whatever the health of the objects, 1 there is no such object, or Steward is not installed.
{NEEDS}"""


@click.command("tree", epilog=_EPILOG)
@click.argument("what", metavar="[[KIND/]NAME]", required=False, shell_complete=complete_names)
@click.option("-w", "--watch", is_flag=True, help="Draw it again every two seconds, until Ctrl-C.")
@output_option
@scope_options
def command(what: str | None, watch: bool, output: str, **options: Any) -> None:
    """Draw clusters and registries, or one object, with the objects created for them."""
    if is_machine_readable(output):
        return print_value([_node_dict(node) for node in _read(what, options)], output)
    is_unfolded = output == WIDE or what is not None
    while True:
        found = _read(what, options)
        drawn = render_trees(found, time.time(), unfolded if is_unfolded else None)
        lines = [line._replace(text=with_cluster_options(line.text)) for line in drawn]
        if watch:
            click.clear()
            size = shutil.get_terminal_size()
            lines = fit_lines(lines, size.columns, size.lines - 1)
        _print_lines(lines)
        if not watch:
            return None
        time.sleep(_PERIOD_SECONDS)


def _read(what: str | None, options: dict[str, Any]) -> tuple[TreeNode, ...]:
    return read_selected_trees(dict(options)) if what is None else (select_node(options, what),)


def _node_dict(node: TreeNode) -> dict[str, Any]:
    obj = node.object
    return {
        "kind": obj.ref.kind.kind,
        "namespace": obj.ref.key.namespace,
        "name": obj.ref.key.name,
        "health": node.worst_health.name.lower(),
        **({"message": obj.message} if obj.message else {}),
        **({"primary": obj.primary} if obj.primary else {}),
        **({"children": [_node_dict(child) for child in node.children]} if node.children else {}),
    }


def _print_lines(lines: list[TreeLine]) -> None:
    if not lines:
        click.echo("There is no MultigresCluster and no TenantRegistry here; -A shows all namespaces.")
    for line in lines:
        echo_line(line)
