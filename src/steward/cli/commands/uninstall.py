"""`steward uninstall`: takes an installation away without stranding anything.

A custom resource with our finalizer could never be deleted once nobody is left to answer it. So while custom resources
live, nothing is removed; or, on request, they are released first: our finalizers are taken off, and they stay, with
everything that runs below them, under definitions that stay too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click

from steward.cli.connection import cluster_options, source_of, with_client
from steward.cli.install_options import chosen_values, value_options
from steward.install.manifests import crds, enabled, manifests
from steward.install.values import Values
from steward.kube.client.client import Client
from steward.kube.errors import Conflict, NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.kube.objects.options import DeleteOptions, ListQuery
from steward.kube.objects.patches import MergePatch

OUR_FINALIZERS = ("multigres.com/", "kubernetes-tenants.org/", "tenant.operator.kubernetes-tenants.org/")
_SHOWN = 10
# Others write to a custom resource too, and each write makes what was read outdated.
_ATTEMPTS = 10
FIRST = (
    "Deployment",
    "ClusterRoleBinding",
    "RoleBinding",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
)
_EPILOG = """\b
Examples:
  steward uninstall                 refuses while custom resources live
  steward uninstall --keep-crds     leaves the definitions
  steward uninstall --release       lets go of what lives; databases and tenants' objects keep running
\b
Exit codes: 0 all of it is gone, or being deleted, 1 it was refused: by Steward because custom resources live, or by the
server.
\b
Needs: the rights to delete what `steward install` applied, and to list custom resources (patch, with --release).
"""


class Living(NamedTuple):
    """A custom resource that is still there."""

    ref: Ref
    version: str
    finalizers: tuple[str, ...]


@click.command("uninstall", epilog=_EPILOG)
@value_options
@click.option("--release", is_flag=True, help="Take our finalizers off what lives, and leave it running.")
@click.option("--keep-crds", is_flag=True, help="Leave the custom resource definitions.")
@cluster_options
def command(
    values_file: Path | None,
    namespace: str | None,
    only: str | None,
    release: bool,
    keep_crds: bool,
    **given: Any,
) -> None:
    """Remove an installation of Steward."""
    values = chosen_values(values_file, namespace, only)
    found = with_client(source_of(dict(given)), lambda client: living(client, values))
    if found and not release:
        raise click.ClickException(_refusal(found))
    kept = keep_crds or bool(found)
    objects = [m for m in manifests(values) if not (kept and m["kind"] == "CustomResourceDefinition")]
    with_client(source_of(given), lambda client: _remove(client, objects, values))


def _refusal(found: list[Living]) -> str:
    names = [f"{one.ref.kind.kind} {one.ref.key}" for one in found]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"{len(names)} custom resources live: {', '.join(names[:_SHOWN])}{more}. Delete them first and wait until "
        "they are gone, or use --release, which leaves them and all that runs below them in place."
    )


async def living(client: Client, values: Values) -> list[Living]:
    found = []
    for operator in enabled(values):
        for crd in crds(operator):
            found += await _of_kind(client, _custom_kind(crd))
    return found


def _custom_kind(crd: Manifest) -> Kind:
    spec = crd["spec"]
    return Kind(f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"])


async def _of_kind(client: Client, kind: Kind) -> list[Living]:
    try:
        listing = await client.list(kind, ListQuery())
    except (NoSuchKind, NotFound):
        return []
    return [_living(kind, item) for item in listing.items]


def _living(kind: Kind, item: Manifest) -> Living:
    meta = item["metadata"]
    ref = ref_of({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta})
    return Living(ref, meta["resourceVersion"], tuple(meta.get("finalizers") or ()))


async def _remove(client: Client, objects: list[Manifest], values: Values) -> None:
    """The operators go first, and their rights with them: the process of a deleted Deployment lives on for a while, and
    would put its finalizers back. Then what asks them, as a webhook that nobody answers would refuse to let a finalizer
    go. Only then is what lives looked up for good: until their end the operators made children."""
    for manifest in first_to_go(objects):
        await _delete(client, manifest)
    for one in await living(client, values):
        await release(client, one)
    for manifest in reversed(objects):
        if manifest["kind"] not in FIRST:
            await _delete(client, manifest)


def first_to_go(objects: list[Manifest]) -> list[Manifest]:
    return [manifest for kind in FIRST for manifest in objects if manifest["kind"] == kind]


async def release(client: Client, one: Living) -> None:
    """Takes our finalizers off and leaves those of others, also those that came in meanwhile."""
    for _ in range(_ATTEMPTS):
        left = [name for name in one.finalizers if not name.startswith(OUR_FINALIZERS)]
        if len(left) == len(one.finalizers):
            return
        try:
            await client.patch(one.ref, MergePatch.metadata_as_seen(one.version, finalizers=left))
        except Conflict:
            one = _living(one.ref.kind, await client.get(one.ref.kind, one.ref.key))
        except NotFound:
            return
        else:
            click.echo(f"{one.ref.kind.kind} {one.ref.key} released")
            return
    raise click.ClickException(
        f"{one.ref.kind.kind} {one.ref.key} is changed again and again, so it still has our finalizer: find out who "
        "writes to it (`kubectl get -o yaml --show-managed-fields`), then run this once more"
    )


async def _delete(client: Client, manifest: Manifest) -> None:
    ref = ref_of(manifest)
    try:
        live = await client.get(ref.kind, ref.key)
        await client.delete(ref, DeleteOptions(uid=live["metadata"]["uid"]))
    except (NotFound, NoSuchKind):
        return
    click.echo(f"{kind_of(manifest).kind} {ref.key.name} deleted")
