"""`steward status`: one line for each cluster and registry, problems first."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import click

from steward.cli.hints import cluster_flags, command_line
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.coloured import echo_line
from steward.cli.inspect.object_health import HIBERNATED, PAUSED, Health
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options
from steward.cli.inspect.progress import kind_progress
from steward.cli.inspect.render import MARKS, UPDATE_WAITS, TreeLine, describe_primaries, fit_lines
from steward.cli.inspect.selection import select_node
from steward.cli.inspect.why import why_message
from steward.cli.output import WIDE, is_machine_readable, output_option, print_value

_PERIOD_SECONDS = 2.0
_EPILOG = f"""\b
Examples:
  steward status -A
  steward status db -n shop
  steward status -n shop -o wide
  steward status -A -w
  steward status -A -o json
\b
Exit codes: 0 all are healthy, 1 something is not.
{NEEDS}"""


@click.command("status", epilog=_EPILOG)
@click.argument("what", metavar="[[KIND/]NAME]", required=False)
@click.option("-w", "--watch", is_flag=True, help="Print it again every two seconds, until Ctrl-C.")
@output_option
@scope_options
def command(what: str | None, watch: bool, output: str, **options: Any) -> None:
    """Show the health of every cluster and registry, or of one object, problems first."""
    if watch:
        if is_machine_readable(output):
            raise click.UsageError("--watch prints text: leave -o out")
        _watch(what, options, output)
    trees, now = _read(what, options), time.time()
    if is_machine_readable(output):
        print_value([_status_dict(node, now) for node in trees], output)
    else:
        _print_status(trees, now, output)
    click.get_current_context().exit(0 if all(node.is_healthy for node in trees) else 1)


def _read(what: str | None, options: dict[str, Any]) -> list[TreeNode]:
    found = (select_node(options, what),) if what else read_selected_trees(dict(options))
    return sorted(found, key=lambda node: node.worst_health)


def _watch(what: str | None, options: dict[str, Any], output: str) -> NoReturn:
    """A terminal of a few lines shows the problems: they come first."""
    while True:
        trees = _read(what, options)
        click.clear()
        _print_status(trees, time.time(), output, shutil.get_terminal_size().lines - 1)
        time.sleep(_PERIOD_SECONDS)


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
        **({"suspension": obj.suspension} if obj.suspension else {}),
        **({"updateWaits": True} if obj.has_pending_update else {}),
        **({"primaries": node.primaries} if node.primaries else {}),
    }


def _print_status(trees: list[TreeNode], now: float, output: str, height: int | None = None) -> None:
    """At most `height` lines of the terminal, if it is given."""
    if not trees:
        click.echo("There is no MultigresCluster and no TenantRegistry here; -A shows all namespaces.")
    lines = [line for node in trees for line in _node_lines(node, now, output)]
    width = shutil.get_terminal_size().columns
    for line in lines if height is None else fit_lines(lines, width, height):
        echo_line(line)


def _node_lines(node: TreeNode, now: float, output: str) -> Iterator[TreeLine]:
    yield from status_lines(node, now, cluster_flags())
    for part in kind_progress(node)[1:] if output == WIDE else ():
        yield TreeLine(Health.READY, f"    {part.kind:<24} {part.ready} of {part.total} ready")


def status_lines(node: TreeNode, now: float, flags: str = "") -> Iterator[TreeLine]:
    """The sentence about a node, and the commands for what waits for a user: a pause, hibernation, an update."""
    yield TreeLine(node.worst_health, f"{MARKS[node.worst_health]} {_sentence(node, now, flags)}")
    ref = node.object.ref
    if node.object.suspension == PAUSED:
        resume = command_line(
            "resume", f"{ref.kind.kind.lower()}/{ref.key.name}", namespace=ref.key.namespace
        )
        yield TreeLine(Health.WAITING, f"  ! {PAUSED}: {resume}")
    elif node.object.suspension:
        wake = command_line("wake", ref.key.name, namespace=ref.key.namespace)
        yield TreeLine(Health.WAITING, f"  ! {HIBERNATED}: {wake}")
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
