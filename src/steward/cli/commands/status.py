"""`steward status`: one line for each cluster and registry, problems first."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import click

from steward.cli.connection import with_client
from steward.cli.hints import cluster_flags, command_line, with_cluster_options
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.byte_sizes import format_bytes
from steward.cli.inspect.coloured import echo_line
from steward.cli.inspect.forgotten_claims import read_forgotten_claims
from steward.cli.inspect.object_health import HIBERNATED, PAUSED, STOPPED, WITHOUT_SERVERS, Health
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options, selected_scope
from steward.cli.inspect.progress import kind_progress
from steward.cli.inspect.render import (
    MARKS,
    UPDATE_WAITS,
    TreeLine,
    describe_primaries,
    describe_waiting,
    fit_lines,
)
from steward.cli.inspect.selection import select_node
from steward.cli.inspect.why import why_message
from steward.cli.object_names import complete_names
from steward.cli.output import WIDE, is_machine_readable, output_option, print_value, wrap_for_terminal
from steward.kube.objects.kinds import Key

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
@click.argument("what", metavar="[[KIND/]NAME]", required=False, shell_complete=complete_names)
@click.option("-w", "--watch", is_flag=True, help="Print it again every two seconds, until Ctrl-C.")
@output_option
@scope_options
def command(what: str | None, watch: bool, output: str, **options: Any) -> None:
    """Show the health of every cluster and registry, or of one object, problems first."""
    if watch:
        if is_machine_readable(output):
            raise click.UsageError("--watch prints text: leave -o out")
        _watch(what, options, output)
    found, now = _read(what, options), time.time()
    if is_machine_readable(output):
        print_value([_status_dict(node, now) for node in found.trees], output)
    else:
        _print_status(found, now, output)
    click.get_current_context().exit(0 if all(node.is_healthy for node in found.trees) else 1)


class Found(NamedTuple):
    trees: list[TreeNode]
    forgotten: Counter[Key]
    """Volume claims by the name of their cluster, which is gone."""


def _read(what: str | None, options: dict[str, Any]) -> Found:
    if what:
        return Found([select_node(options, what)], Counter())
    trees = sorted(read_selected_trees(dict(options)), key=lambda node: node.worst_health)
    objects = (obj for node in trees for obj in node.walk())
    clusters = [obj.ref.key for obj in objects if obj.ref.kind.kind == "MultigresCluster"]
    source, namespace = selected_scope(dict(options))
    return Found(
        trees, with_client(source, lambda client: read_forgotten_claims(client, namespace, clusters))
    )


def _watch(what: str | None, options: dict[str, Any], output: str) -> NoReturn:
    """A terminal of a few lines shows the problems: they come first."""
    while True:
        found = _read(what, options)
        click.clear()
        _print_status(found, time.time(), output, shutil.get_terminal_size().lines - 1)
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
        "why": with_cluster_options(why_message(node, now, cluster_flags())),
        **({"isTerminating": True} if obj.is_terminating else {}),
        **({"suspension": obj.suspension} if obj.suspension else {}),
        **({"updateWaits": True} if obj.has_pending_update else {}),
        **({"primaries": node.primaries} if node.primaries else {}),
        **({"lastBackupAt": node.oldest_backup} if node.oldest_backup else {}),
        **({"repositoryBytes": node.repository_bytes} if node.repository_bytes else {}),
        **({"waitingTenants": obj.waiting_tenants} if obj.waiting_tenants else {}),
        **({"unusedClaims": obj.kept_claims} if obj.kept_claims else {}),
    }


def _print_status(found: Found, now: float, output: str, height: int | None = None) -> None:
    """At most `height` lines of the terminal, if it is given."""
    if not found.trees:
        click.echo("There is no MultigresCluster and no TenantRegistry here; -A shows all namespaces.")
    lines = [line for node in found.trees for line in _node_lines(node, now, output)]
    for cluster, count in sorted(found.forgotten.items()):
        lines.append(TreeLine(Health.WAITING, kept_claims_line(count, cluster, is_gone=True)))
    for line in lines if height is None else _fit_screen(lines, height):
        echo_line(line)


def _fit_screen(lines: list[TreeLine], height: int) -> list[TreeLine]:
    """Sentences are wrapped, not cut: their ends have the cures."""
    wrapped = [line._replace(text=text) for line in lines for text in wrap_for_terminal(line.text)]
    return fit_lines(wrapped, shutil.get_terminal_size().columns, height)


def _node_lines(node: TreeNode, now: float, output: str) -> Iterator[TreeLine]:
    for line in status_lines(node, now, cluster_flags()):
        yield line._replace(text=with_cluster_options(line.text))
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
    elif node.object.suspension == STOPPED:
        yield TreeLine(Health.WAITING, f"  ! {STOPPED}: no server runs; raise replicasPerCell of its pools")
    elif node.object.suspension:
        wake = command_line("wake", ref.key.name, namespace=ref.key.namespace)
        yield TreeLine(Health.WAITING, f"  ! {HIBERNATED}: {wake}")
    if node.object.has_pending_update and not node.object.is_terminating:
        show_it = command_line("updates", "show", ref.key.name, namespace=ref.key.namespace)
        yield TreeLine(Health.WAITING, f"  ! {UPDATE_WAITS}: {show_it}")
    if waiting := node.object.waiting_tenants:
        yield TreeLine(Health.WAITING, f"  {MARKS[Health.WAITING]} {describe_waiting(waiting)}")
    kept = node.object.kept_claims
    if kept and node.object.suspension not in WITHOUT_SERVERS:
        yield TreeLine(Health.WAITING, kept_claims_line(kept, ref.key))


def kept_claims_line(count: int, cluster: Key, *, is_gone: bool = False) -> str:
    """What `status` says of volume claims that are kept: they hold data, and cost money, that no server uses."""
    volumes = command_line("volumes", cluster.name, namespace=cluster.namespace)
    of = f" of MultigresCluster {cluster}, which is gone" if is_gone else ""
    return f"{'' if is_gone else '  '}! {count} unused volume claim{'s' * (count != 1)}{of}: {volumes}"


def _sentence(node: TreeNode, now: float, flags: str) -> str:
    obj = node.object
    if not node.is_healthy:
        return why_message(node, now, flags)
    count = sum(1 for _ in node.walk()) - 1
    parts = obj.summary or f"{count} part{'' if count == 1 else 's'}"
    age = format_age(obj.since, now)
    about = f"{parts}{describe_primaries(node.primaries)}{_describe_backup(node, now)}"
    state = obj.suspension if obj.suspension in WITHOUT_SERVERS else "ready"
    return f"{obj.ref.kind.kind} {obj.ref.key}: {state}, {about} ({age})"


def _describe_backup(node: TreeNode, now: float) -> str:
    age, size = format_age(node.oldest_backup, now), format_bytes(node.repository_bytes)
    return f", last backup {age} ago{f', backups take {size}' if size else ''}" if age else ""
