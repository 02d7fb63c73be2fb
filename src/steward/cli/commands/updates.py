"""`steward updates`: the template changes that wait for clusters, what they change, and the word that lets one in."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.confirm import must_agree
from steward.cli.connection import with_client
from steward.cli.inspect.options import looking_options, looks_in, namespace_options, where_of
from steward.cli.object_names import NameOf
from steward.cli.output import is_for_programs, output_option, print_value, table
from steward.cli.template_updates import MANAGER, Standing, plain, read_one, read_standings
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.patches import MergePatch
from steward.multigres.template_updates.history import (
    Change,
    accepting,
    back_to,
    difference,
    going_back,
    kept,
)

_EPILOG = """\b
Examples:
  steward updates -A
  steward updates show db -n shop
  steward updates apply db -n shop
  steward updates history db -n shop
  steward updates rollback db db-shardtemplate-standard-3-1f0c22ab -n shop
\b
Exit codes: 0 done (listing: nothing waits), 1 listing: something waits; else: it cannot be done.
\b
Needs the right to list multigresclusters, templates and controllerrevisions; to apply or go back, to patch
multigresclusters.
"""


@click.group("updates", epilog=_EPILOG, invoke_without_command=True)
@output_option
@looking_options
def command(output: str, **given: Any) -> None:
    """List the template changes that wait for clusters; show, apply or take back one."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        return
    source, namespace = looks_in(given)
    found = with_client(source, lambda client: read_standings(client, namespace))
    pending = [each for each in found if each.is_waiting]
    if is_for_programs(output):
        print_value([plain(each) for each in pending], output)
    else:
        _list(pending)
    context.exit(1 if pending else 0)


@command.command("show", epilog=_EPILOG)
@click.argument("cluster", type=NameOf("MultigresCluster"), metavar="CLUSTER")
@output_option
@namespace_options
def show(cluster: str, output: str, **given: Any) -> None:
    """Say what waits for a cluster, what it would restart, and line by line what it changes."""
    standing = _found(*where_of(given), cluster)
    if is_for_programs(output):
        print_value(plain(standing), output)
        return
    click.echo(standing.message or "Nothing waits.")
    for change in standing.changes:
        _show_difference(change)


@command.command("history", epilog=_EPILOG)
@click.argument("cluster", type=NameOf("MultigresCluster"), metavar="CLUSTER")
@output_option
@namespace_options
def history(cluster: str, output: str, **given: Any) -> None:
    """List the template contents that a cluster stood on, and those that it can go back to."""
    standing = _found(*where_of(given), cluster)
    if is_for_programs(output):
        print_value(plain(standing)["kept"], output)
        return
    rows = [
        [
            str(each.revision.template),
            str(each.revision.content.generation),
            str(each.revision.number),
            "yes" if each.is_in_force else "no",
            each.revision.name,
        ]
        for each in kept(standing.revisions)
    ]
    for line in table(["TEMPLATE", "GENERATION", "NUMBER", "IN FORCE", "REVISION"], rows):
        click.echo(line)


@command.command("apply", epilog=_EPILOG)
@click.argument("cluster", type=NameOf("MultigresCluster"), metavar="CLUSTER")
@click.option("--yes", is_flag=True, help="Do not ask.")
@namespace_options
def apply(cluster: str, yes: bool, **given: Any) -> None:
    """Let what waits take effect, once, whatever the cluster's policy is."""
    source, namespace = where_of(given)
    standing = _found(source, namespace, cluster)
    if not standing.is_waiting:
        raise click.ClickException(f"nothing waits for {cluster}; `steward updates -A` lists what does")
    if not yes:
        click.echo(standing.message)
        must_agree("Apply it?")
    _ask(source, standing, accepting(standing.version))
    click.echo(f"{cluster} takes it now; `steward status` says when it is through.")


@command.command("rollback", epilog=_EPILOG)
@click.argument("cluster", type=NameOf("MultigresCluster"), metavar="CLUSTER")
@click.argument("revision")
@click.option("--yes", is_flag=True, help="Do not ask.")
@namespace_options
def rollback(cluster: str, revision: str, yes: bool, **given: Any) -> None:
    """Put an earlier template content back in force. It stays so until the template changes or you apply it again."""
    source, namespace = where_of(given)
    standing = _found(source, namespace, cluster)
    change = back_to(standing.revisions, revision)
    if change is None:
        told = f"no revision {revision} of {cluster} is kept; `steward updates history {cluster}` lists them"
        raise click.ClickException(told)
    if not yes:
        _show_difference(change)
        must_agree(f"Go back to generation {change.new.generation}?")
    _ask(source, standing, going_back(standing.version, revision))
    click.echo(f"{cluster} goes back to generation {change.new.generation} of {change.template}.")


def _found(source: ConfigSource, namespace: str, cluster: str) -> Standing:
    found = with_client(source, lambda client: read_one(client, namespace, cluster))
    if found is None:
        told = f"there is no MultigresCluster {cluster} in {namespace}; `steward tree -A` shows what there is"
        raise click.ClickException(told)
    return found


def _ask(source: ConfigSource, standing: Standing, patch: MergePatch) -> None:
    with_client(source, lambda client: client.patch(standing.ref, patch, manager=MANAGER))


def _list(pending: list[Standing]) -> None:
    if not pending:
        click.echo("No template change waits.")
        return
    rows = [
        [
            each.ref.key.namespace,
            each.ref.key.name,
            ", ".join(
                f"{change.template} {'-' if change.old is None else change.old.generation} → "
                f"{change.new.generation}"
                for change in each.changes
            )
            or "-",
            each.available or "-",
            each.reason,
        ]
        for each in pending
    ]
    for line in table(["NAMESPACE", "CLUSTER", "TEMPLATES", "REVISION", "WHY"], rows):
        click.echo(line)


def _show_difference(change: Change) -> None:
    colours = {"+": "green", "-": "red"}
    for line in difference(change):
        click.secho(line, fg=colours.get(line[:1]))
