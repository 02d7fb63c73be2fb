"""`steward status`: one screen, problems first."""

from __future__ import annotations

import time
from typing import Any

import click

from steward.cli.inspect.ages import ago
from steward.cli.inspect.object_tree import Branch, Health
from steward.cli.inspect.options import NEEDS, found_families, looking_options
from steward.cli.inspect.progress import parts
from steward.cli.inspect.render import MARKS
from steward.cli.inspect.why import why
from steward.cli.output import WIDE, is_for_programs, output_option, print_value

_EPILOG = f"""\b
Examples:
  steward status -A
  steward status -n shop -o wide
  steward status -A -o json
\b
Exit codes: 0 all is well, 1 something is not.
{NEEDS}"""


@click.command("status", epilog=_EPILOG)
@output_option
@looking_options
def command(output: str, **given: Any) -> None:
    """Say how every cluster and every registry is, problems first."""
    branches = sorted(found_families(given), key=lambda branch: (branch.is_well, branch.member.health))
    now = time.time()
    if is_for_programs(output):
        print_value([_plain(branch, now) for branch in branches], output)
    else:
        _show(branches, now, output)
    click.get_current_context().exit(0 if all(branch.is_well for branch in branches) else 1)


def _plain(branch: Branch, now: float) -> dict[str, Any]:
    member = branch.member
    return {
        "kind": member.ref.kind.kind,
        "namespace": member.ref.key.namespace,
        "name": member.ref.key.name,
        "health": member.health.name.lower(),
        "isWell": branch.is_well,
        "since": member.since,
        "why": why(branch, now),
    }


def _show(branches: list[Branch], now: float, output: str) -> None:
    if not branches:
        click.echo("There is no MultigresCluster and no TenantRegistry here. Elsewhere? Try -A.")
        return
    for branch in branches:
        member = branch.member
        count = sum(1 for _ in branch.walk()) - 1
        if branch.is_well:
            age = ago(member.since, now)
            click.secho(
                f"{MARKS[Health.READY]} {member.ref.kind.kind} {member.ref.key}: ready, {count} parts ({age})",
                fg="green",
            )
        else:
            worst = min(each.health for each in branch.walk())
            click.secho(
                f"{MARKS[worst]} {why(branch, now)}", fg="red" if worst is Health.FAILED else "yellow"
            )
        if output == WIDE:
            for part in parts(branch)[1:]:
                click.echo(f"    {part.kind:<24} {part.ready} of {part.total} ready")
