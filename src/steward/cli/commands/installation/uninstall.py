"""`steward uninstall`: removes an installation without leaving custom resources that cannot be deleted.

Without the operators, nothing removes the finalizers of a custom resource. So nothing is removed while custom resources
exist; with --release their finalizers are removed first, and they stay with all their objects and definitions.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from steward.cli.confirm import require_confirmation
from steward.cli.connection import cluster_options, config_source, with_client
from steward.cli.install_options import load_values, value_options
from steward.install.manifests import crds, enabled_operators, manifests
from steward.install.operators import labels
from steward.install.page import with_page
from steward.install.values import Values
from steward.install.workloads import PARTITION_LABEL
from steward.kube.client.client import Client
from steward.kube.errors import Conflict, NoSuchKind, NotFound
from steward.kube.objects.kinds import (
    CLUSTER_ROLE,
    DEPLOYMENT,
    ROLE,
    ROLE_BINDING,
    Kind,
    Manifest,
    Ref,
    kind_of,
    ref_of,
)
from steward.kube.objects.options import DeleteOptions, ListQuery
from steward.kube.objects.patches import MergePatch

_HELM_RELEASE: Final = "meta.helm.sh/release-name"
_HELM_NAMESPACE: Final = "meta.helm.sh/release-namespace"
OUR_FINALIZERS = ("multigres.com/", "kubernetes-tenants.org/", "tenant.operator.kubernetes-tenants.org/")
_MAX_LISTED = 10
# Other clients write to a custom resource too, and each write causes a conflict.
_ATTEMPTS = 10
DELETED_FIRST = (
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
  steward uninstall                 asks first; refuses while custom resources exist
  steward uninstall --dry-run       lists what would be deleted, and deletes nothing
  steward uninstall --yes           without a question, for scripts
  steward uninstall --keep-crds     leaves the definitions
  steward uninstall --release       removes finalizers; databases and objects of tenants keep running
\b
Exit codes: 0 everything is deleted or terminating (or was listed), 1 refused: by Steward because custom resources
exist, because Helm installed it or because it was not confirmed, or by the server.
\b
Needs: the rights to delete what `steward install` applied, and to list custom resources (patch, with --release), roles
and bindings.
"""


class RemainingResource(NamedTuple):
    """A custom resource that still exists."""

    ref: Ref
    version: str
    finalizers: tuple[str, ...]


@click.command("uninstall", epilog=_EPILOG)
@value_options
@click.option(
    "--release",
    is_flag=True,
    help="Remove our finalizers from custom resources, and leave them running.",
)
@click.option("--keep-crds", is_flag=True, help="Leave the custom resource definitions.")
@click.option("--dry-run", is_flag=True, help="List what would be deleted, and delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed without a terminal.")
@cluster_options
def command(
    *,
    values_file: Path | None,
    namespace: str | None,
    only: str | None,
    release: bool,
    keep_crds: bool,
    dry_run: bool,
    yes: bool,
    **options: Any,
) -> None:
    """Remove an installation of Steward."""
    values = load_values(values_file, namespace, only)
    if only is None:
        # The values of the installation may be lost: what is not there is not missed.
        values = with_page(values)
    source = config_source(options)
    found = with_client(source, lambda client: remaining_resources(client, values))
    if found and not release:
        raise click.ClickException(_refusal_message(found))
    kept = keep_crds or bool(found)
    objects = [m for m in manifests(values) if not (kept and m["kind"] == "CustomResourceDefinition")]
    live = with_client(source, lambda client: installed_objects(client, objects))
    if refusal := helm_refusal(live):
        raise click.ClickException(refusal)
    if dry_run:
        _print_plan(live, found)
        return
    if live and not yes:
        require_confirmation(f"Delete {len(live)} objects of Steward{_definitions_note(live)}?")
    with_client(source, lambda client: _uninstall(client, objects, values))


async def installed_objects(client: Client, objects: list[Manifest]) -> list[Manifest]:
    """Those that exist, as the API server has them."""
    found = await asyncio.gather(*(_live_object(client, manifest) for manifest in objects))
    return [live for live in found if live is not None]


async def _live_object(client: Client, manifest: Manifest) -> Manifest | None:
    ref = ref_of(manifest)
    try:
        live = await client.get(ref.kind, ref.key)
    except (NotFound, NoSuchKind):
        return None
    return {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind, **live}


def helm_refusal(live: list[Manifest]) -> str:
    """The sentence for an installation that Helm owns: Helm would believe in objects that are gone. Definitions do not
    count: they stay when Helm uninstalls."""
    for manifest in live:
        annotations = manifest["metadata"].get("annotations") or {}
        release = annotations.get(_HELM_RELEASE)
        if release and manifest["kind"] != "CustomResourceDefinition":
            home = annotations.get(_HELM_NAMESPACE, "")
            return f"Helm installed this, so Helm removes it: helm uninstall {release} --namespace {home}"
    return ""


def _print_plan(live: list[Manifest], released: list[RemainingResource]) -> None:
    for resource in released:
        click.echo(f"{resource.ref.kind.kind} {resource.ref.key} would be released")
    for manifest in live:
        click.echo(f"{manifest['kind']} {manifest['metadata']['name']} would be deleted")


def _definitions_note(live: list[Manifest]) -> str:
    count = sum(manifest["kind"] == "CustomResourceDefinition" for manifest in live)
    return f", with {count} definitions" if count else ""


def _refusal_message(found: list[RemainingResource]) -> str:
    names = [f"{resource.ref.kind.kind} {resource.ref.key}" for resource in found]
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return (
        f"{len(names)} custom resources exist: {', '.join(names[:_MAX_LISTED])}{more}. Delete them first and wait "
        "until they are gone, or use --release, which leaves them and all their objects in place."
    )


async def remaining_resources(client: Client, values: Values) -> list[RemainingResource]:
    found = []
    for operator in enabled_operators(values):
        for crd in crds(operator):
            found += await _resources_of_kind(client, _custom_kind(crd))
    return found


def _custom_kind(crd: Manifest) -> Kind:
    spec = crd["spec"]
    return Kind(f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"])


async def _resources_of_kind(client: Client, kind: Kind) -> list[RemainingResource]:
    try:
        listing = await client.list(kind, ListQuery())
    except (NoSuchKind, NotFound):
        return []
    return [_remaining_resource(kind, item) for item in listing.items]


def _remaining_resource(kind: Kind, item: Manifest) -> RemainingResource:
    meta = item["metadata"]
    ref = ref_of({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta})
    return RemainingResource(ref, meta["resourceVersion"], tuple(meta.get("finalizers") or ()))


async def _uninstall(client: Client, objects: list[Manifest], values: Values) -> None:
    """Deletes the operators and their bindings first: the process of a deleted Deployment runs on for a while and would
    add its finalizers again. Then the webhooks, since a webhook without a server rejects the removal of a finalizer.
    The custom resources are listed after that, because the operators may create children until they end."""
    for manifest in deleted_first(objects):
        await _delete_object(client, manifest)
    await _delete_partitions(client, values)
    await _delete_roles_by_label(client, values)
    for resource in await remaining_resources(client, values):
        await remove_finalizers(client, resource)
    for manifest in reversed(objects):
        if manifest["kind"] not in DELETED_FIRST:
            await _delete_object(client, manifest)


async def _delete_partitions(client: Client, values: Values) -> None:
    """Deployments of partitions, too: only the values of the installation say how many there are."""
    query = ListQuery(namespace=values.namespace, label_selector=PARTITION_LABEL)
    for item in (await client.list(DEPLOYMENT, query)).items:
        await _delete_object(client, {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, **item})


async def _delete_roles_by_label(client: Client, values: Values) -> None:
    """An installation for some namespaces has more roles; only its values name them, and they may not be given here."""
    for operator in enabled_operators(values):
        selector = ",".join(f"{name}={value}" for name, value in labels(operator).items())
        for kind in (ROLE_BINDING, ROLE, CLUSTER_ROLE):
            for item in (await client.list(kind, ListQuery(label_selector=selector))).items:
                await _delete_object(client, {"apiVersion": kind.api_version, "kind": kind.kind, **item})


def deleted_first(objects: list[Manifest]) -> list[Manifest]:
    return [manifest for kind in DELETED_FIRST for manifest in objects if manifest["kind"] == kind]


async def remove_finalizers(client: Client, resource: RemainingResource) -> None:
    """Removes the finalizers of Steward and keeps all others, including those added concurrently."""
    for _ in range(_ATTEMPTS):
        left = [name for name in resource.finalizers if not name.startswith(OUR_FINALIZERS)]
        if len(left) == len(resource.finalizers):
            return
        try:
            await client.patch(
                resource.ref, MergePatch.metadata_at_version(resource.version, finalizers=left)
            )
        except Conflict:
            resource = _remaining_resource(
                resource.ref.kind, await client.get(resource.ref.kind, resource.ref.key)
            )
        except NotFound:
            return
        else:
            click.echo(f"{resource.ref.kind.kind} {resource.ref.key} released")
            return
    raise click.ClickException(
        f"{resource.ref.kind.kind} {resource.ref.key} is changed again and again, so it still has a finalizer of "
        "Steward: find the client that writes to it (`kubectl get -o yaml --show-managed-fields`), then run "
        "this once more"
    )


async def _delete_object(client: Client, manifest: Manifest) -> None:
    ref = ref_of(manifest)
    try:
        live = await client.get(ref.kind, ref.key)
        await client.delete(ref, DeleteOptions(uid=live["metadata"]["uid"]))
    except (NotFound, NoSuchKind):
        return
    click.echo(f"{kind_of(manifest).kind} {ref.key.name} deleted")
