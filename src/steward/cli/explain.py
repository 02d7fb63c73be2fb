"""`steward explain`: where each value of a MultigresCluster comes from.

Offline it reads files, as they would be applied; otherwise the cluster and the templates beside it, from the server.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from steward.cli.files import NotReadable, documents_of
from steward.cli.looking.options import namespace_options, where_of
from steward.cli.main import one_sentence
from steward.cli.naming import NameOf
from steward.cli.printing import some_of
from steward.cli.reaching import with_client
from steward.kube.client import Client, ListQuery
from steward.kube.config import ConfigSource
from steward.kube.errors import KubeError
from steward.kube.kinds import Key
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.explanation import Explained, explain
from steward.multigres.resolve import resolve
from steward.multigres.resolved import Identity, Templates
from steward.multigres.rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.validation import validate

Manifest = dict[str, Any]

_SPECS = {
    CORE_TEMPLATE.kind: CoreTemplateSpec,
    CELL_TEMPLATE.kind: CellTemplateSpec,
    SHARD_TEMPLATE.kind: ShardTemplateSpec,
}
_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


class NotExplained(ValueError):
    """There is nothing to explain, or no way to; the message says the cure."""


_EPILOG = """\b
Examples:
  steward explain shop -n shop
  steward explain -f shop.yaml -f templates.yaml
\b
Exit codes: 0 done, 1 the cluster is not there, is not valid, or its templates are missing.
\b
Needs, without -f: the right to get the cluster and to list coretemplates, celltemplates and shardtemplates.
"""


@click.command(name="explain", epilog=_EPILOG)
@click.argument("name", required=False, type=NameOf("MultigresCluster"), metavar="[NAME]")
@click.option(
    "-f", "--file", "files", type=_FILE, multiple=True, help="Manifests to explain offline; - for stdin."
)
@namespace_options
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    *,
    name: str | None,
    files: tuple[Path, ...],
    output: str,
    **given: Any,
) -> None:
    """Say where each value of a MultigresCluster comes from: built in, a template, or the cluster itself.

    With -f, NAME chooses one of several clusters in the files; without, it is read from the server with the
    templates beside it.
    """
    with one_sentence(NotExplained, NotReadable, KubeError, OSError):
        if files:
            manifests = [each.manifest for file in files for each in documents_of(file) if each.name]
        elif name:
            manifests = _live(name, *where_of(given))
        else:
            raise NotExplained("name a cluster, or give its manifest with -f")
        rows = explained(manifests, name)
    click.echo(as_json(rows) if output == "json" else as_text(rows))


def _live(name: str, source: ConfigSource, namespace: str) -> list[Manifest]:
    """The cluster, and the templates beside it."""

    async def read(client: Client) -> list[Manifest]:
        found = [await client.get(CLUSTER, Key(namespace, name))]
        for kind in (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE):
            found += (await client.list(kind, ListQuery(namespace=namespace))).items
        return found

    return with_client(source, read)


def explained(manifests: list[Manifest], name: str | None) -> list[Explained]:
    cluster = _chosen(manifests, name)
    spec = _typed(cluster, MultigresClusterSpec)
    meta = cluster["metadata"]
    identity = Identity(meta.get("namespace", "default"), meta["name"])
    resolved = resolve(identity, spec, _templates(manifests, meta.get("namespace")))
    if problems := validate(spec, resolved):
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
        raise NotExplained(f"MultigresCluster {meta['name']} cannot be resolved: {told}")
    return explain(spec, resolved)


def _chosen(manifests: list[Manifest], name: str | None) -> Manifest:
    clusters = [each for each in manifests if each.get("kind") == CLUSTER.kind]
    found = [each for each in clusters if name in (None, each["metadata"]["name"])]
    if len(found) == 1:
        return found[0]
    names = some_of([each["metadata"]["name"] for each in clusters])
    raise NotExplained(f"name one MultigresCluster; there are: {names}")


def _templates(manifests: list[Manifest], namespace: str | None) -> Templates:
    contents: dict[str, dict[str, Any]] = {kind: {} for kind in _SPECS}
    for each in manifests:
        kind = each.get("kind", "")
        is_beside = namespace is None or each["metadata"].get("namespace", namespace) == namespace
        if kind in _SPECS and is_beside:
            contents[kind][each["metadata"]["name"]] = _typed(each, _SPECS[kind])
    core, cell, shard = (contents[kind.kind] for kind in (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE))
    return Templates(core, cell, shard)


def _typed(manifest: Manifest, spec: type[Any]) -> Any:
    try:
        return msgspec.convert(manifest.get("spec") or {}, spec)
    except msgspec.ValidationError as error:
        raise NotExplained(f"{manifest['kind']} {manifest['metadata']['name']}: {error}") from error


def as_text(rows: list[Explained]) -> str:
    width = max((len(row.path) for row in rows), default=0)
    values = [json.dumps(row.value) if not isinstance(row.value, str) else row.value for row in rows]
    shown = max((len(value) for value in values if len(value) <= 60), default=0)
    return "\n".join(
        f"{row.path:<{width}}  {value:<{shown}}  {row.source}"
        for row, value in zip(rows, values, strict=True)
    )


def as_json(rows: list[Explained]) -> str:
    return json.dumps([row._asdict() for row in rows], indent=2)
