"""`steward explain`: where each value of a MultigresCluster comes from.

Offline it reads files, as they would be applied; otherwise the cluster from the server, with the contents of templates
that are in force for it: under `Manual` and `Window` a template may have moved on.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import click
import msgspec

from steward.cli.connection import with_client
from steward.cli.files import NotReadable, documents_of
from steward.cli.inspect.options import namespace_options, where_of
from steward.cli.main import one_sentence
from steward.cli.object_names import NameOf
from steward.cli.output import some_of
from steward.cli.preview.template_situation import Place, read_place
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.resolution.provenance import Explained, explain
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, Templates
from steward.multigres.resolution.validation import validate
from steward.multigres.template_updates.candidate import Attempt, Situation, told
from steward.multigres.template_updates.policy import decide

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
Needs, without -f: the right to list multigresclusters, coretemplates, celltemplates, shardtemplates and
controllerrevisions.
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
            rows = explained(
                [each.manifest for file in files for each in documents_of(file) if each.name], name
            )
        elif name:
            rows = _live(name, *where_of(given))
        else:
            raise NotExplained("name a cluster, or give its manifest with -f")
    click.echo(as_json(rows) if output == "json" else as_text(rows))


def _live(name: str, source: ConfigSource, namespace: str) -> list[Explained]:
    place = with_client(source, lambda client: read_place(client, namespace))
    return explained_in(place, Key(namespace, name), datetime.datetime.now(datetime.UTC))


def explained_in(place: Place, key: Key, now: datetime.datetime) -> list[Explained]:
    """Of a cluster as it lives: on the template contents that the operator has put in force. Pure."""
    cluster = place.objects.get(Ref(CLUSTER, key))
    if cluster is None:
        cure = "`steward tree -A` shows what there is"
        raise NotExplained(f"there is no MultigresCluster {key.name} in {key.namespace}; {cure}")
    at = _situation(place, cluster, now)
    return _told(key.name, at.spec, decide(at).attempt)


def _situation(place: Place, cluster: Manifest, now: datetime.datetime) -> Situation:
    try:
        return place.situation(cluster, now)
    except msgspec.ValidationError as error:
        raise NotExplained(f"MultigresCluster {cluster['metadata']['name']}: {error}") from error


def explained(manifests: list[Manifest], name: str | None) -> list[Explained]:
    cluster = _chosen(manifests, name)
    spec = _typed(cluster, MultigresClusterSpec)
    meta = cluster["metadata"]
    identity = Identity(meta.get("namespace", "default"), meta["name"])
    resolved = resolve(identity, spec, _templates(manifests, meta.get("namespace")))
    return _told(meta["name"], spec, Attempt(resolved, validate(spec, resolved)))


def _told(name: str, spec: MultigresClusterSpec, found: Attempt) -> list[Explained]:
    if found.problems:
        raise NotExplained(f"MultigresCluster {name} cannot be resolved: {told(found.problems)}")
    return explain(spec, found.resolved)


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
