"""`steward status`: one line for each cluster and registry, problems first."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_tree import Health, TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options
from steward.cli.inspect.progress import kind_progress
from steward.cli.inspect.render import MARKS
from steward.cli.inspect.why import why_message
from steward.cli.output import WIDE, is_machine_readable, output_option, print_value

_EPILOG = f"""\b
Examples:
  steward status -A
  steward status -n shop -o wide
  steward status -A -o json
\b
Exit codes: 0 all are healthy, 1 something is not.
{NEEDS}"""


@click.command("status", epilog=_EPILOG)
@output_option
@scope_options
def command(output: str, **options: Any) -> None:
    """Show the health of every cluster and registry, problems first."""
    trees = sorted(read_selected_trees(options), key=lambda node: (node.is_healthy, node.object.health))
    now = time.time()
    if is_machine_readable(output):
        print_value([_status_dict(node, now) for node in trees], output)
    else:
        _print_status(trees, now, output)
    click.get_current_context().exit(0 if all(node.is_healthy for node in trees) else 1)


def _status_dict(node: TreeNode, now: float) -> dict[str, Any]:
    obj = node.object
    return {
        "kind": obj.ref.kind.kind,
        "namespace": obj.ref.key.namespace,
        "name": obj.ref.key.name,
        "health": obj.health.name.lower(),
        "isWell": node.is_healthy,
        "since": obj.since,
        "why": why_message(node, now),
    }


def _print_status(trees: list[TreeNode], now: float, output: str) -> None:
    if not trees:
        click.echo("There is no MultigresCluster and no TenantRegistry here; -A shows all namespaces.")
        return
    for node in trees:
        obj = node.object
        count = sum(1 for _ in node.walk()) - 1
        if node.is_healthy:
            age = format_age(obj.since, now)
            click.secho(
                f"{MARKS[Health.READY]} {obj.ref.kind.kind} {obj.ref.key}: ready, {count} parts ({age})",
                fg="green",
            )
        else:
            worst = min(each.health for each in node.walk())
            click.secho(
                f"{MARKS[worst]} {why_message(node, now)}", fg="red" if worst is Health.FAILED else "yellow"
            )
        if output == WIDE:
            for part in kind_progress(node)[1:]:
                click.echo(f"    {part.kind:<24} {part.ready} of {part.total} ready")
