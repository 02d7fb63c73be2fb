"""`steward why KIND/NAME`: one sentence, down to the pod, the claim or the row at fault."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.inspect.object_tree import KINDS, Branch
from steward.cli.inspect.options import NEEDS, found_families, looking_options
from steward.cli.inspect.why import why
from steward.cli.object_names import means

_EPILOG = f"""\b
Examples:
  steward why multigrescluster/db -n shop
  steward why tenant/acme-web -n saas
\b
Exit codes: 0 it is ready, 1 it is not or is not there.
{NEEDS}"""


@click.command("why", epilog=_EPILOG)
@click.argument("what", metavar="KIND/NAME")
@looking_options
def command(what: str, **given: Any) -> None:
    """Say in one sentence what an object waits for, since when, and what would unblock it."""
    kind, slash, name = what.partition("/")
    if not slash or not kind or not name:
        raise click.UsageError(f"{what} is not KIND/NAME: try multigrescluster/{name or kind}")
    if not any(means(kind, known.kind) for known in KINDS):
        kinds = ", ".join(known.kind.lower() for known in KINDS)
        raise click.UsageError(f"{kind} is no kind that grows here; there are: {kinds}")
    branch = found_in(found_families(given), kind, name)
    if branch is None:
        raise click.ClickException(f"there is no {kind} {name} here; `steward tree -A` shows what there is")
    click.echo(why(branch, time.time()))
    click.get_current_context().exit(0 if branch.is_well else 1)


def found_in(branches: tuple[Branch, ...], kind: str, name: str) -> Branch | None:
    for branch in branches:
        ref = branch.member.ref
        if means(kind, ref.kind.kind) and ref.key.name == name:
            return branch
        found = found_in(branch.children, kind, name)
        if found is not None:
            return found
    return None
