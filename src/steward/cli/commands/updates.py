"""`steward updates`: lists, shows, applies and rolls back template changes of clusters."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.confirm import require_confirmation
from steward.cli.connection import with_client
from steward.cli.inspect.options import namespace_options, scope_options, selected_namespace, selected_scope
from steward.cli.object_names import ObjectName
from steward.cli.output import format_table, is_machine_readable, output_option, print_value
from steward.cli.template_updates import (
    FIELD_MANAGER,
    TemplateState,
    read_template_state,
    read_template_states,
    template_state_dict,
)
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.patches import MergePatch
from steward.multigres.template_updates.history import (
    TemplateChange,
    accept_patch,
    diff_lines,
    revision_history,
    rollback_change,
    rollback_patch,
)

_EPILOG = """\b
Examples:
  steward updates -A
  steward updates show db -n shop
  steward updates apply db -n shop
  steward updates history db -n shop
  steward updates rollback db db-shardtemplate-standard-3-1f0c22ab -n shop
\b
Exit codes: 0 done (listing: nothing is pending), 1 listing: changes are pending; else: it cannot be done.
\b
Needs the right to list multigresclusters, templates and controllerrevisions; to apply or roll back, to patch
multigresclusters.
"""


@click.group("updates", epilog=_EPILOG, invoke_without_command=True)
@output_option
@scope_options
def command(output: str, **options: Any) -> None:
    """List pending template changes of clusters; show, apply or roll back one."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        return
    source, namespace = selected_scope(options)
    found = with_client(source, lambda client: read_template_states(client, namespace))
    pending = [each for each in found if each.is_waiting]
    if is_machine_readable(output):
        print_value([template_state_dict(each) for each in pending], output)
    else:
        _print_pending(pending)
    context.exit(1 if pending else 0)


@command.command("show", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@output_option
@namespace_options
def show(cluster: str, output: str, **options: Any) -> None:
    """Show the pending changes of a cluster, what they would restart, and a diff."""
    state = _read_state(*selected_namespace(options), cluster)
    if is_machine_readable(output):
        print_value(template_state_dict(state), output)
        return
    click.echo(state.message or "No template change is pending.")
    for change in state.changes:
        _print_diff(change)


@command.command("history", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@output_option
@namespace_options
def history(cluster: str, output: str, **options: Any) -> None:
    """List the template revisions that a cluster has used and can roll back to."""
    state = _read_state(*selected_namespace(options), cluster)
    if is_machine_readable(output):
        print_value(template_state_dict(state)["kept"], output)
        return
    rows = [
        [
            str(each.revision.template),
            str(each.revision.content.generation),
            str(each.revision.number),
            "yes" if each.is_active else "no",
            each.revision.name,
        ]
        for each in revision_history(state.revisions)
    ]
    for line in format_table(["TEMPLATE", "GENERATION", "NUMBER", "ACTIVE", "REVISION"], rows):
        click.echo(line)


@command.command("apply", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@namespace_options
def apply(cluster: str, yes: bool, **options: Any) -> None:
    """Apply the pending changes once, whatever the update policy of the cluster is."""
    source, namespace = selected_namespace(options)
    state = _read_state(source, namespace, cluster)
    if not state.is_waiting:
        raise click.ClickException(
            f"no template change of {cluster} is pending; `steward updates -A` lists pending changes"
        )
    if not yes:
        click.echo(state.message)
        require_confirmation("Apply it?")
    _patch_cluster(source, state, accept_patch(state.version))
    click.echo(f"{cluster} applies it now; `steward status` shows when it is done.")


@command.command("rollback", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.argument("revision")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@namespace_options
def rollback(cluster: str, revision: str, yes: bool, **options: Any) -> None:
    """Roll back to an earlier template revision. It stays active until the template changes or you apply it again."""
    source, namespace = selected_namespace(options)
    state = _read_state(source, namespace, cluster)
    change = rollback_change(state.revisions, revision)
    if change is None:
        message = f"{cluster} has no revision {revision}; `steward updates history {cluster}` lists them"
        raise click.ClickException(message)
    if not yes:
        _print_diff(change)
        require_confirmation(f"Roll back to generation {change.new.generation}?")
    _patch_cluster(source, state, rollback_patch(state.version, revision))
    click.echo(f"{cluster} rolls back to generation {change.new.generation} of {change.template}.")


def _read_state(source: ConfigSource, namespace: str, cluster: str) -> TemplateState:
    found = with_client(source, lambda client: read_template_state(client, namespace, cluster))
    if found is None:
        message = f"there is no MultigresCluster {cluster} in {namespace}; `steward tree -A` shows all"
        raise click.ClickException(message)
    return found


def _patch_cluster(source: ConfigSource, state: TemplateState, patch: MergePatch) -> None:
    with_client(source, lambda client: client.patch(state.ref, patch, manager=FIELD_MANAGER))


def _print_pending(pending: list[TemplateState]) -> None:
    if not pending:
        click.echo("No template change is pending.")
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
    for line in format_table(["NAMESPACE", "CLUSTER", "TEMPLATES", "REVISION", "WHY"], rows):
        click.echo(line)


def _print_diff(change: TemplateChange) -> None:
    colours = {"+": "green", "-": "red"}
    for line in diff_lines(change):
        click.secho(line, fg=colours.get(line[:1]))
