"""`steward hold`: lists the deletions that the guard holds, and approves one."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from steward.cli.confirm import require_confirmation
from steward.cli.connection import config_source, with_client
from steward.cli.hints import command_line, with_cluster_options
from steward.cli.inspect.elsewhere import require_installed
from steward.cli.inspect.options import scope_options, selected_scope
from steward.cli.object_names import complete_names, matches_kind
from steward.cli.output import (
    TEXT,
    WIDE,
    echo_wrapped,
    is_machine_readable,
    output_option,
    print_table,
    print_value,
)
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind, Manifest, Ref, ref_of
from steward.kube.objects.options import ListQuery
from steward.kube.objects.patches import MergePatch

API = "operator.kubernetes-tenants.org/v1"
APPROVAL_ANNOTATION = "kubernetes-tenants.org/approve-deletion"
FIELD_MANAGER = "steward-cli"
_KINDS = (Kind(API, "TenantRegistry"), Kind(API, "TenantTemplate"))
_EPILOG = """\b
Examples:
  steward hold -A
  steward hold -n saas -o json
  steward hold approve customers -n saas
  steward hold approve tenanttemplate/web -n saas --yes
\b
Exit codes: 0 done (listing: nothing is held), 1 listing: something is held; approving: it cannot be approved.
\b
Needs the right to list tenantregistries and tenanttemplates; to approve, to patch them.
"""


class HeldDeletion(NamedTuple):
    """A held deletion of Tenants of a registry or a template."""

    ref: Ref
    deletion: dict[str, Any]
    message: str
    version: str

    @property
    def approve_with(self) -> str:
        return str(self.deletion.get("approveWith", ""))


@click.group("hold", epilog=_EPILOG, invoke_without_command=True)
@output_option
@scope_options
def command(output: str, **options: Any) -> None:
    """List deletions held for approval, or approve one."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        return
    found = _read_holds_in_scope(options)
    if is_machine_readable(output):
        print_value([_hold_dict(held) for held in found], output)
    else:
        _print_holds(found, output)
    context.exit(1 if found else 0)


@command.command("approve", epilog=_EPILOG)
@click.argument("name", metavar="[KIND/]NAME", shell_complete=complete_names)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@scope_options
def approve(name: str, yes: bool, **options: Any) -> None:
    """Approve the deletion of exactly the Tenants that are held now. If the set changes, the approval is void."""
    source = config_source(dict(options))
    held = find_hold(_read_holds_in_scope(options), name)
    if not held.approve_with:
        raise click.ClickException(f"this deletion cannot be approved. {held.message}")
    if not yes:
        echo_wrapped(with_cluster_options(held.message))
        require_confirmation(f"Delete these {held.deletion['count']} Tenants and all their objects?")
    with_client(source, lambda client: _approve(client, held))
    click.echo(f"{held.ref} may delete these {held.deletion['count']} Tenants.")


def _read_holds_in_scope(options: dict[str, Any]) -> list[HeldDeletion]:
    source, namespace = selected_scope(options)

    async def read(client: Client) -> list[HeldDeletion]:
        await require_installed(client, *_KINDS)
        return await read_holds(client, namespace)

    return with_client(source, read)


async def read_holds(client: Client, namespace: str) -> list[HeldDeletion]:
    found: list[HeldDeletion] = []
    for kind in _KINDS:
        try:
            listing = await client.list(kind, ListQuery(namespace=namespace))
        except (NoSuchKind, NotFound):
            continue
        items = ({**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in listing.items)
        found.extend(held for item in items if (held := held_deletion(item)) is not None)
    return found


def held_deletion(manifest: Manifest) -> HeldDeletion | None:
    """The held deletion of an object, if there is one. Pure."""
    status = manifest.get("status") or {}
    conditions = status.get("conditions") or ()
    condition: dict[str, Any] = next((each for each in conditions if each["type"] == "DeletionHeld"), {})
    if condition.get("status") != "True" or "heldDeletion" not in status:
        return None
    return HeldDeletion(
        ref_of(manifest),
        status["heldDeletion"],
        str(condition.get("message", "")),
        manifest["metadata"]["resourceVersion"],
    )


def find_hold(found: list[HeldDeletion], name: str) -> HeldDeletion:
    """The hold of this name. Without a kind, a registry, else the one template of that name. Pure."""
    kind, slash, alone = name.rpartition("/")
    for named_kind in (kind,) if slash else ("TenantRegistry", "TenantTemplate"):
        for held in found:
            if held.ref.key.name == alone and matches_kind(named_kind, held.ref.kind.kind):
                return held
    every = command_line("hold", "-A")
    raise click.ClickException(f"no deletion of {name} is held here; `{every}` lists held deletions")


async def _approve(client: Client, held: HeldDeletion) -> None:
    # Only for the version that was shown to the user.
    patch = MergePatch.metadata_at_version(held.version, annotations={APPROVAL_ANNOTATION: held.approve_with})
    await client.patch(held.ref, patch, manager=FIELD_MANAGER)


def _hold_dict(held: HeldDeletion) -> dict[str, Any]:
    return {
        "kind": held.ref.kind.kind,
        "namespace": held.ref.key.namespace,
        "name": held.ref.key.name,
        **held.deletion,
        "message": held.message,
    }


def _print_holds(found: list[HeldDeletion], output: str) -> None:
    if not found:
        click.echo("No deletion is held.")
        return
    print_table(*hold_table(found, output))
    for held in found if output == TEXT else ():
        echo_wrapped(with_cluster_options(describe_cure(held)))


def hold_table(found: list[HeldDeletion], output: str) -> tuple[list[str], list[list[str]]]:
    """Heads and rows."""
    heads = ["NAMESPACE", "HELD BY", "TENANTS", "WHY", "APPROVE WITH"]
    rows = [_table_row(held) for held in found]
    if output == WIDE:
        heads.append("AMONG THEM")
        rows = [
            [*row, ", ".join(held.deletion.get("sample", ()))] for row, held in zip(rows, found, strict=True)
        ]
    return heads, rows


def describe_cure(held: HeldDeletion) -> str:
    """The command that approves the deletion, or why it cannot be approved."""
    name = _short_name(held)
    if not held.approve_with:
        return f"{name} cannot be approved. {held.message}"
    approve_it = command_line("hold", "approve", name, namespace=held.ref.key.namespace)
    return f"To delete the {held.deletion['count']} Tenants of {name}: {approve_it}"


def _short_name(held: HeldDeletion) -> str:
    return f"{held.ref.kind.kind.lower()}/{held.ref.key.name}"


def _table_row(held: HeldDeletion) -> list[str]:
    key, deletion = held.ref.key, held.deletion
    approval = held.approve_with or "cannot be approved"
    return [key.namespace, _short_name(held), str(deletion["count"]), str(deletion["reason"]), approval]
