"""`steward hold`: the deletions that the guard holds, and the word that lets one of them go."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from steward.cli.confirm import must_agree
from steward.cli.connection import source_of, with_client
from steward.cli.inspect.options import looking_options, looks_in
from steward.cli.object_names import means
from steward.cli.output import TEXT, WIDE, is_for_programs, output_option, print_value, table
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind, Manifest, Ref, ref_of
from steward.kube.objects.options import ListQuery
from steward.kube.objects.patches import MergePatch

API = "operator.kubernetes-tenants.org/v1"
APPROVAL = "kubernetes-tenants.org/approve-deletion"
MANAGER = "steward-cli"
_KINDS = (Kind(API, "TenantRegistry"), Kind(API, "TenantTemplate"))
_EPILOG = """\b
Examples:
  steward hold -A
  steward hold -n saas -o json
  steward hold approve customers -n saas
  steward hold approve tenanttemplate/web -n saas --yes
\b
Exit codes: 0 done (listing: nothing is held), 1 listing: something is held; approving: it cannot be.
\b
Needs the right to list tenantregistries and tenanttemplates; to approve, to patch them.
"""


class Held(NamedTuple):
    """A registry or a template whose Tenants are not deleted."""

    ref: Ref
    deletion: dict[str, Any]
    message: str
    version: str

    @property
    def approve_with(self) -> str:
        return str(self.deletion.get("approveWith", ""))


@click.group("hold", epilog=_EPILOG, invoke_without_command=True)
@output_option
@looking_options
def command(output: str, **given: Any) -> None:
    """List the deletions that wait for approval, or approve one."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        return
    found = _found(given)
    if is_for_programs(output):
        print_value([_plain(held) for held in found], output)
    else:
        _show(found, output)
    context.exit(1 if found else 0)


@command.command("approve", epilog=_EPILOG)
@click.argument("name", metavar="[KIND/]NAME")
@click.option("--yes", is_flag=True, help="Do not ask.")
@looking_options
def approve(name: str, yes: bool, **given: Any) -> None:
    """Let exactly the Tenants go that are held now. A Tenant more or less, and the approval is void."""
    source = source_of(dict(given))
    held = _named(_found(given), name)
    if not held.approve_with:
        raise click.ClickException(f"no approval lets these go. {held.message}")
    if not yes:
        click.echo(held.message)
        must_agree(f"Delete these {held.deletion['count']} Tenants and all that is theirs?")
    with_client(source, lambda client: _approve(client, held))
    click.echo(f"{held.ref} may delete these {held.deletion['count']} Tenants.")


def _found(given: dict[str, Any]) -> list[Held]:
    source, namespace = looks_in(given)
    return with_client(source, lambda client: read_holds(client, namespace))


async def read_holds(client: Client, namespace: str) -> list[Held]:
    found: list[Held] = []
    for kind in _KINDS:
        try:
            listing = await client.list(kind, ListQuery(namespace=namespace))
        except (NoSuchKind, NotFound):
            continue
        items = ({**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in listing.items)
        found.extend(held for item in items if (held := held_of(item)) is not None)
    return found


def held_of(found: Manifest) -> Held | None:
    """What is held of an object, if anything is. Pure."""
    status = found.get("status") or {}
    conditions = status.get("conditions") or ()
    told: dict[str, Any] = next((each for each in conditions if each["type"] == "DeletionHeld"), {})
    if told.get("status") != "True" or "heldDeletion" not in status:
        return None
    return Held(
        ref_of(found),
        status["heldDeletion"],
        str(told.get("message", "")),
        found["metadata"]["resourceVersion"],
    )


def _named(found: list[Held], name: str) -> Held:
    kind, slash, alone = name.rpartition("/")
    wanted = kind if slash else "TenantRegistry"
    for held in found:
        if held.ref.key.name == alone and means(wanted, held.ref.kind.kind):
            return held
    raise click.ClickException(f"nothing of {name} is held here; `steward hold -A` lists what is")


async def _approve(client: Client, held: Held) -> None:
    # On that version alone: what was shown is what is approved.
    patch = MergePatch.metadata_as_seen(held.version, annotations={APPROVAL: held.approve_with})
    await client.patch(held.ref, patch, manager=MANAGER)


def _plain(held: Held) -> dict[str, Any]:
    return {
        "kind": held.ref.kind.kind,
        "namespace": held.ref.key.namespace,
        "name": held.ref.key.name,
        **held.deletion,
        "message": held.message,
    }


def _show(found: list[Held], output: str) -> None:
    if not found:
        click.echo("No deletion is held.")
        return
    heads = ["NAMESPACE", "HELD BY", "TENANTS", "WHY", "APPROVE WITH"]
    rows = [_row(held) for held in found]
    if output == WIDE:
        heads.append("AMONG THEM")
        rows = [
            [*row, ", ".join(held.deletion.get("sample", ()))] for row, held in zip(rows, found, strict=True)
        ]
    for line in table(heads, rows):
        click.echo(line)
    if output == TEXT:
        click.echo("To let one go: steward hold approve KIND/NAME -n NAMESPACE")


def _row(held: Held) -> list[str]:
    key, deletion = held.ref.key, held.deletion
    name = f"{held.ref.kind.kind.lower()}/{key.name}"
    return [key.namespace, name, str(deletion["count"]), str(deletion["reason"]), held.approve_with or "-"]
