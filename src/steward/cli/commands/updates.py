"""`steward updates`: lists, shows and applies pending changes of clusters, and rolls template changes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from steward.cli.confirm import require_confirmation
from steward.cli.connection import with_client
from steward.cli.hints import command_line, with_update_command
from steward.cli.inspect.options import namespace_options, scope_options, selected_namespace, selected_scope
from steward.cli.object_names import ObjectName, complete_revisions
from steward.cli.output import echo_wrapped, is_machine_readable, output_option, print_table, print_value
from steward.cli.template_updates import (
    TemplateState,
    read_template_state,
    read_template_states,
    template_state_dict,
)
from steward.cli.update_requests import UpdateRequest, read_refusal, send_request, wait_for_outcome
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
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK

NOTHING_PENDING = "No change is pending."
_no_wait_option = click.option(
    "--no-wait",
    is_flag=True,
    help="Do not wait until the operator has acted. What it would refuse is not sent.",
)
_ANNOTATE = re.compile(r"(\. To apply|; to apply it), run `kubectl annotate|, or run `kubectl annotate")
_EPILOG = """\b
Examples:
  steward updates -A
  steward updates show db -n shop
  steward updates apply db -n shop
  steward updates history db -n shop
  steward updates rollback db db-shardtemplate-standard-3-1f0c22ab -n shop
\b
Exit codes: 0 done (listing: nothing is pending), 1 listing: changes are pending; else: the operator refuses it, or has
not acted within a minute. What it would refuse is not sent.
\b
Needs the right to list multigresclusters, templates and controllerrevisions; to apply or roll back, to patch
multigresclusters.
"""


@click.group("updates", epilog=_EPILOG, invoke_without_command=True)
@output_option
@scope_options
def command(output: str, **options: Any) -> None:
    """List pending changes of clusters, by templates or a new version of the operator; show, apply or roll back one."""
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
    echo_wrapped(message_with_cure(state) if state.message else NOTHING_PENDING)
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
    print_table(["TEMPLATE", "GENERATION", "NUMBER", "ACTIVE", "REVISION"], rows)


@command.command("apply", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_no_wait_option
@namespace_options
def apply(cluster: str, yes: bool, no_wait: bool, **options: Any) -> None:
    """Apply the pending changes once, whatever the update policy of the cluster is."""
    source, namespace = selected_namespace(options)
    state = _read_state(source, namespace, cluster)
    if not state.is_waiting:
        every = command_line("updates", "-A")
        raise click.ClickException(f"no change of {cluster} is pending; `{every}` lists pending changes")
    request = UpdateRequest(state.ref, APPLY_NOW, "true")
    _require_possible(source, request)
    if not yes:
        click.echo(message_without_cure(state.message))
        require_confirmation("Apply it?")
    _send(source, request, accept_patch(state.version), is_awaited=not no_wait)
    done = command_line("status", cluster, namespace=namespace)
    click.echo(
        f"Requested; `{done}` shows the outcome."
        if no_wait
        else f"{cluster} uses the changes now; `{done}` shows when every server has them."
    )


@command.command("rollback", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.argument("revision", shell_complete=complete_revisions)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_no_wait_option
@namespace_options
def rollback(cluster: str, revision: str, yes: bool, no_wait: bool, **options: Any) -> None:
    """Roll back to an earlier template revision. It stays active until the template changes or you apply it again."""
    source, namespace = selected_namespace(options)
    state = _read_state(source, namespace, cluster)
    change = rollback_change(state.revisions, revision)
    if change is None:
        kept = command_line("updates", "history", cluster, namespace=namespace)
        raise click.ClickException(f"{cluster} has no revision {revision}; `{kept}` lists them")
    request = UpdateRequest(state.ref, ROLL_BACK, revision)
    _require_possible(source, request)
    if not yes:
        _print_diff(change)
        require_confirmation(f"Roll back to generation {change.new.generation}?")
    _send(source, request, rollback_patch(state.version, revision), is_awaited=not no_wait)
    target = f"generation {change.new.generation} of {change.template}"
    click.echo(
        f"Requested: {cluster} rolls back to {target}." if no_wait else f"{cluster} uses {target} again."
    )


def _read_state(source: ConfigSource, namespace: str, cluster: str) -> TemplateState:
    found = with_client(source, lambda client: read_template_state(client, namespace, cluster))
    if found is None:
        message = (
            f"there is no MultigresCluster {cluster} in {namespace}; `{command_line('tree', '-A')}` shows all"
        )
        raise click.ClickException(message)
    return found


def _require_possible(source: ConfigSource, request: UpdateRequest) -> None:
    """Raises with the operator's message if it would refuse the request."""
    if refusal := with_client(source, lambda client: read_refusal(client, request)):
        raise click.ClickException(f"nothing was changed: {refusal}")


def _send(source: ConfigSource, request: UpdateRequest, patch: MergePatch, *, is_awaited: bool) -> None:
    """Raises with the operator's message if it has refused the request after all."""
    with_client(source, lambda client: send_request(client, request, patch))
    if is_awaited and (failure := with_client(source, lambda client: wait_for_outcome(client, request))):
        raise click.ClickException(failure)


def message_without_cure(message: str) -> str:
    """The message of the operator without the instruction to annotate the cluster."""
    return _ANNOTATE.split(message)[0].rstrip(" .,;") + "."


def message_with_cure(state: TemplateState) -> str:
    """The message of the operator, with the command of this program instead of kubectl's."""
    return with_update_command(state.message, state.ref.key.name, state.ref.key.namespace)


def _print_pending(pending: list[TemplateState]) -> None:
    if not pending:
        click.echo(NOTHING_PENDING)
        return
    rows = [
        [
            each.ref.key.namespace,
            each.ref.key.name,
            ", ".join(_change_names(each)) or "-",
            each.available or "-",
            ", ".join(update.reason for update in (each.template, each.operator) if update.is_waiting),
        ]
        for each in pending
    ]
    print_table(["NAMESPACE", "CLUSTER", "CHANGES", "REVISION", "WHY"], rows)


def _change_names(state: TemplateState) -> Iterator[str]:
    for change in state.changes:
        before = "-" if change.old is None else change.old.generation
        yield f"{change.template} {before} → {change.new.generation}"
    if state.operator.is_waiting:
        yield "operator"


def _print_diff(change: TemplateChange) -> None:
    colours = {"+": "green", "-": "red"}
    for line in diff_lines(change):
        click.secho(line, fg=colours.get(line[:1]))
