"""`steward status`: one line for each cluster and registry, problems first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from steward.cli.hints import cluster_flags, command_line
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.coloured import echo_line
from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options
from steward.cli.inspect.progress import kind_progress
from steward.cli.inspect.render import MARKS, UPDATE_WAITS, TreeLine, describe_primaries
from steward.cli.inspect.selection import select_node
from steward.cli.inspect.why import why_message
from steward.cli.output import WIDE, is_machine_readable, output_option, print_value

_EPILOG = f"""\b
Examples:
  steward status -A
  steward status db -n shop
  steward status -n shop -o wide
  steward status -A -o json
\b
Exit codes: 0 all are healthy, 1 something is not.
{NEEDS}"""


@click.command("status", epilog=_EPILOG)
@click.argument("what", metavar="[[KIND/]NAME]", required=False)
@output_option
@scope_options
def command(what: str | None, output: str, **options: Any) -> None:
    """Show the health of every cluster and registry, or of one object, problems first."""
    found = (select_node(options, what),) if what else read_selected_trees(options)
    trees = sorted(found, key=lambda node: node.worst_health)
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
        "health": node.worst_health.name.lower(),
        "isWell": node.is_healthy,
        "since": obj.since,
        "why": why_message(node, now, cluster_flags()),
        **({"isTerminating": True} if obj.is_terminating else {}),
        **({"updateWaits": True} if obj.has_pending_update else {}),
        **({"primaries": node.primaries} if node.primaries else {}),
    }


def _print_status(trees: list[TreeNode], now: float, output: str) -> None:
    if not trees:
        click.echo("There is no MultigresCluster and no TenantRegistry here; -A shows all namespaces.")
    for node in trees:
        for line in status_lines(node, now, cluster_flags()):
            echo_line(line)
        if output == WIDE:
            for part in kind_progress(node)[1:]:
                click.echo(f"    {part.kind:<24} {part.ready} of {part.total} ready")


def status_lines(node: TreeNode, now: float, flags: str = "") -> Iterator[TreeLine]:
    """The sentence about a node, and the command for an update that waits."""
    yield TreeLine(node.worst_health, f"{MARKS[node.worst_health]} {_sentence(node, now, flags)}")
    ref = node.object.ref
    if node.object.has_pending_update:
        show_it = command_line("updates", "show", ref.key.name, namespace=ref.key.namespace)
        yield TreeLine(Health.WAITING, f"  ! {UPDATE_WAITS}: {show_it}")


def _sentence(node: TreeNode, now: float, flags: str) -> str:
    obj = node.object
    if not node.is_healthy:
        return why_message(node, now, flags)
    count = sum(1 for _ in node.walk()) - 1
    parts = obj.summary or f"{count} part{'' if count == 1 else 's'}"
    age = format_age(obj.since, now)
    return f"{obj.ref.kind.kind} {obj.ref.key}: ready, {parts}{describe_primaries(node.primaries)} ({age})"
