"""`steward install`: prints the objects of an installation, or applies them.

Applying twice changes nothing: it is server-side apply of the same objects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from steward.cli.connection import cluster_options, source_of, with_client
from steward.cli.install_options import MANAGER, as_yaml, chosen_values, value_options
from steward.install.manifests import manifests
from steward.kube.client import decode
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Manifest, ref_of
from steward.kube.objects.options import ApplyOptions

_EPILOG = """\b
Examples:
  steward install | kubectl apply --server-side -f -
  steward install --apply --values values.yaml
\b
Exit codes: 0 done, 1 a value is wrong, or the server refuses something.
\b
Needs, with --apply: the rights to create everything it prints (cluster-admin has them).
"""


@click.command("install", epilog=_EPILOG)
@value_options
@click.option("--apply", "is_applied", is_flag=True, help="Apply the objects instead of printing them.")
@cluster_options
def command(
    values_file: Path | None, namespace: str | None, only: str | None, is_applied: bool, **given: Any
) -> None:
    """Print what an installation of Steward consists of, or apply it."""
    objects = manifests(chosen_values(values_file, namespace, only))
    if not is_applied:
        click.echo(as_yaml(objects), nl=False)
        return
    with_client(source_of(given), lambda client: _apply(client, objects))


async def _apply(client: Client, objects: list[Manifest]) -> None:
    options = ApplyOptions(manager=MANAGER)
    for manifest in objects:
        ref = ref_of(manifest)
        before = await _before(client, manifest)
        try:
            body = await client.apply(manifest, options)
        except NoSuchKind as error:
            raise click.ClickException(
                f"{ref} cannot be applied: the cluster has no kind {ref.kind.kind}. Install what serves it, or "
                f"turn it off in the values (monitoring needs the Prometheus operator)."
            ) from error
        after = _version(decode.one(body, dict))
        word = "created" if not before else "unchanged" if before == after else "changed"
        click.echo(f"{ref.kind.kind} {ref.key.name} {word}")
    click.echo("Installed. See how it goes: kubectl get pods -n " + _namespace(objects))


async def _before(client: Client, manifest: Manifest) -> str:
    ref = ref_of(manifest)
    try:
        return _version(await client.get(ref.kind, ref.key))
    except (NotFound, NoSuchKind):
        return ""


def _version(live: Manifest) -> str:
    """The generation where there is one: controllers write to the status of what we apply, at any time."""
    meta = live["metadata"]
    return str(meta.get("generation") or meta["resourceVersion"])


def _namespace(objects: list[Manifest]) -> str:
    return next(str(found["metadata"]["name"]) for found in objects if found["kind"] == "Namespace")
