"""`steward install`: prints the manifests of an installation, or applies them by server-side apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from steward.cli.connection import cluster_options, config_source, with_client
from steward.cli.hints import with_cluster_options
from steward.cli.install_options import FIELD_MANAGER, dump_yaml, load_values, value_options
from steward.cli.main import expected_errors
from steward.install.manifests import manifests
from steward.install.values import Image, check_namespace
from steward.kube.client import decode
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Manifest, ref_of
from steward.kube.objects.options import ApplyOptions

_NO_REPOSITORY = (
    "The image is named steward, without a registry: nodes cannot pull it unless they have it. "
    "Set image.repository in a file and pass it with --values."
)
_EPILOG = """\b
Examples:
  steward install | kubectl apply --server-side -f -
  steward install --apply --values values.yaml
\b
Exit codes: 0 done, 1 a value is invalid, or the server rejects an object.
\b
Needs, with --apply: the rights to create everything it prints (cluster-admin has them).
"""


@click.command("install", epilog=_EPILOG)
@value_options
@click.option("--apply", "is_applied", is_flag=True, help="Apply the objects instead of printing them.")
@cluster_options
def command(
    values_file: Path | None, namespace: str | None, only: str | None, is_applied: bool, **options: Any
) -> None:
    """Print the manifests of an installation of Steward, or apply them."""
    values = load_values(values_file, namespace, only)
    # Not in load_values: what an earlier version installed there can be uninstalled.
    with expected_errors(ValueError):
        check_namespace(values.namespace)
    objects = manifests(values)
    if values.image.repository == Image().repository:
        click.echo(_NO_REPOSITORY, err=True)
    if not is_applied:
        click.echo(dump_yaml(objects), nl=False)
        return
    with_client(config_source(options), lambda client: _apply_all(client, objects))


async def _apply_all(client: Client, objects: list[Manifest]) -> None:
    options = ApplyOptions(manager=FIELD_MANAGER)
    for manifest in objects:
        ref = ref_of(manifest)
        previous = await _live_version(client, manifest)
        try:
            body = await client.apply(manifest, options)
        except NoSuchKind as error:
            raise click.ClickException(
                f"{ref} cannot be applied: the cluster has no kind {ref.kind.kind}. Install what serves it, or "
                f"turn it off in the values (monitoring needs the Prometheus operator)."
            ) from error
        current = _object_version(decode.one(body, dict))
        word = "created" if not previous else "unchanged" if previous == current else "changed"
        click.echo(f"{ref.kind.kind} {ref.key.name} {word}")
    progress = f"kubectl get pods -n {_namespace_name(objects)}"
    click.echo(with_cluster_options(f"Installed. See the progress: {progress}"))


async def _live_version(client: Client, manifest: Manifest) -> str:
    ref = ref_of(manifest)
    try:
        return _object_version(await client.get(ref.kind, ref.key))
    except (NotFound, NoSuchKind):
        return ""


def _object_version(live: Manifest) -> str:
    """The generation if there is one: status writes of controllers change the resourceVersion at any time."""
    meta = live["metadata"]
    return str(meta.get("generation") or meta["resourceVersion"])


def _namespace_name(objects: list[Manifest]) -> str:
    return next(str(manifest["metadata"]["name"]) for manifest in objects if manifest["kind"] == "Namespace")
