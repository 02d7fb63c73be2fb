"""`steward why KIND/NAME`: explains in one sentence which pod, claim or row an object is waiting for."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.inspect.object_tree import KINDS, TreeNode
from steward.cli.inspect.options import NEEDS, read_selected_trees, scope_options
from steward.cli.inspect.why import why_message
from steward.cli.object_names import matches_kind

_EPILOG = f"""\b
Examples:
  steward why multigrescluster/db -n shop
  steward why tenant/acme-web -n saas
\b
Exit codes: 0 it is ready, 1 it is not ready or does not exist.
{NEEDS}"""


@click.command("why", epilog=_EPILOG)
@click.argument("what", metavar="KIND/NAME")
@scope_options
def command(what: str, **options: Any) -> None:
    """Say in one sentence what an object is waiting for, since when, and what would unblock it."""
    kind, slash, name = what.partition("/")
    if not slash or not kind or not name:
        raise click.UsageError(f"{what} is not KIND/NAME: try multigrescluster/{name or kind}")
    if not any(matches_kind(kind, shown.kind) for shown in KINDS):
        kinds = ", ".join(shown.kind.lower() for shown in KINDS)
        raise click.UsageError(f"{kind} is not a kind that Steward shows; there are: {kinds}")
    node = find_node(read_selected_trees(options), kind, name)
    if node is None:
        raise click.ClickException(f"there is no {kind} {name} here; `steward tree -A` shows all")
    click.echo(why_message(node, time.time()))
    click.get_current_context().exit(0 if node.is_healthy else 1)


def find_node(trees: tuple[TreeNode, ...], kind: str, name: str) -> TreeNode | None:
    for node in trees:
        ref = node.object.ref
        if matches_kind(kind, ref.kind.kind) and ref.key.name == name:
            return node
        found = find_node(node.children, kind, name)
        if found is not None:
            return found
    return None
