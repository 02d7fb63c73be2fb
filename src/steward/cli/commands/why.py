"""`steward why [KIND/]NAME`: explains in one sentence which pod, claim or row an object is waiting for."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.hints import cluster_flags, with_cluster_options
from steward.cli.inspect.options import NEEDS, scope_options
from steward.cli.inspect.selection import select_node
from steward.cli.inspect.why import why_message
from steward.cli.object_names import complete_names
from steward.cli.output import echo_wrapped

_EPILOG = f"""\b
Examples:
  steward why multigrescluster/db -n shop
  steward why tenant/acme-web -n saas
  steward why db -n shop
\b
Exit codes: 0 it is ready, 1 it is not ready or does not exist.
{NEEDS}"""


@click.command("why", epilog=_EPILOG)
@click.argument("what", metavar="[KIND/]NAME", shell_complete=complete_names)
@scope_options
def command(what: str, **options: Any) -> None:
    """Say in one sentence what an object is waiting for, since when, and what would unblock it."""
    node = select_node(options, what)
    echo_wrapped(with_cluster_options(why_message(node, time.time(), cluster_flags())))
    click.get_current_context().exit(0 if node.is_healthy else 1)
