"""`steward explain`: where each value of a MultigresCluster comes from.

With -f it reads files; otherwise the cluster from the server with its active template revisions, which under `Manual`
and `Window` may be older than the templates.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import click
import msgspec

from steward.cli.connection import with_client
from steward.cli.files import UnreadableFile, read_documents
from steward.cli.hints import command_line
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.output import summarize_names
from steward.cli.preview.namespace_snapshot import NamespaceSnapshot, read_snapshot
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.objects.versions import MEMORY_SETTINGS, NEWEST
from steward.multigres.resolution.provenance import ValueOrigin, memory_origins, value_origins
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.template_updates.candidate import Candidate, UpdateInputs, describe_problems, examine
from steward.multigres.template_updates.policy import decide_update

Manifest = dict[str, Any]

_SPECS = {
    CORE_TEMPLATE.kind: CoreTemplateSpec,
    CELL_TEMPLATE.kind: CellTemplateSpec,
    SHARD_TEMPLATE.kind: ShardTemplateSpec,
}
_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


class ExplainError(ValueError):
    """There is no cluster to explain, or it is invalid."""


_EPILOG = """\b
Examples:
  steward explain shop -n shop
  steward explain -f shop.yaml -f templates.yaml
\b
Exit codes: 0 done, 1 the cluster does not exist, is not valid, or its templates are missing.
\b
Needs, without -f: the right to list multigresclusters, coretemplates, celltemplates, shardtemplates and
controllerrevisions.
"""


@click.command(name="explain", epilog=_EPILOG)
@click.argument("name", required=False, type=ObjectName("MultigresCluster"), metavar="[NAME]")
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
    **options: Any,
) -> None:
    """Show where each value of a MultigresCluster comes from: built in, a template, or the cluster itself.

    With -f, NAME chooses one of several clusters in the files; without -f, the cluster and its templates are read from
    the server.
    """
    with expected_errors(ExplainError, UnreadableFile, KubeError, OSError):
        if files:
            rows = explain_manifests(
                [each.manifest for file in files for each in read_documents(file) if each.name], name
            )
        elif name:
            rows = _explain_live(name, *selected_namespace(options))
        else:
            raise ExplainError("name a cluster, or give its manifest with -f")
    click.echo(format_json(rows) if output == "json" else format_text(rows))


def _explain_live(name: str, source: ConfigSource, namespace: str) -> list[ValueOrigin]:
    snapshot = with_client(source, lambda client: read_snapshot(client, namespace))
    return explain_live_cluster(snapshot, Key(namespace, name), datetime.datetime.now(datetime.UTC))


def explain_live_cluster(snapshot: NamespaceSnapshot, key: Key, now: datetime.datetime) -> list[ValueOrigin]:
    """Explains a live cluster with its active template revisions. Pure."""
    cluster = snapshot.objects.get(Ref(CLUSTER, key))
    if cluster is None:
        cure = f"`{command_line('tree', '-A')}` shows all"
        raise ExplainError(f"there is no MultigresCluster {key.name} in {key.namespace}; {cure}")
    inputs = _update_inputs(snapshot, cluster, now)
    candidate = decide_update(inputs).candidate
    return _explain_candidate(key.name, inputs.spec, candidate, inputs.objects_version)


def _update_inputs(snapshot: NamespaceSnapshot, cluster: Manifest, now: datetime.datetime) -> UpdateInputs:
    try:
        return snapshot.update_inputs(cluster, now)
    except msgspec.ValidationError as error:
        raise ExplainError(f"MultigresCluster {cluster['metadata']['name']}: {error}") from error


def explain_manifests(manifests: list[Manifest], name: str | None) -> list[ValueOrigin]:
    cluster = _choose_cluster(manifests, name)
    spec = _parse_spec(cluster, MultigresClusterSpec)
    meta = cluster["metadata"]
    identity = ClusterIdentity(meta.get("namespace", "default"), meta["name"])
    resolved = resolve(identity, spec, _templates_in(manifests, meta.get("namespace")))
    return _explain_candidate(meta["name"], spec, examine(spec, resolved))


def _explain_candidate(
    name: str, spec: MultigresClusterSpec, candidate: Candidate, version: int = NEWEST
) -> list[ValueOrigin]:
    """`version` is that of the cluster's pods."""
    if candidate.problems:
        raise ExplainError(
            f"MultigresCluster {name} cannot be resolved: {describe_problems(candidate.problems)}"
        )
    by_memory = memory_origins(candidate.resolved) if version >= MEMORY_SETTINGS else []
    return [*value_origins(spec, candidate.resolved), *by_memory]


def _choose_cluster(manifests: list[Manifest], name: str | None) -> Manifest:
    clusters = [each for each in manifests if each.get("kind") == CLUSTER.kind]
    found = [each for each in clusters if name in (None, each["metadata"]["name"])]
    if len(found) == 1:
        return found[0]
    names = summarize_names([each["metadata"]["name"] for each in clusters])
    raise ExplainError(f"name one MultigresCluster; there are: {names}")


def _templates_in(manifests: list[Manifest], namespace: str | None) -> Templates:
    contents: dict[str, dict[str, Any]] = {kind: {} for kind in _SPECS}
    for each in manifests:
        kind = each.get("kind", "")
        is_same_namespace = namespace is None or each["metadata"].get("namespace", namespace) == namespace
        if kind in _SPECS and is_same_namespace:
            contents[kind][each["metadata"]["name"]] = _parse_spec(each, _SPECS[kind])
    core, cell, shard = (contents[kind.kind] for kind in (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE))
    return Templates(core, cell, shard)


def _parse_spec(manifest: Manifest, spec: type[Any]) -> Any:
    try:
        return msgspec.convert(manifest.get("spec") or {}, spec)
    except msgspec.ValidationError as error:
        raise ExplainError(f"{manifest['kind']} {manifest['metadata']['name']}: {error}") from error


def format_text(rows: list[ValueOrigin]) -> str:
    width = max((len(row.path) for row in rows), default=0)
    values = [json.dumps(row.value) if not isinstance(row.value, str) else row.value for row in rows]
    shown = max((len(value) for value in values if len(value) <= 60), default=0)
    return "\n".join(
        f"{row.path:<{width}}  {value:<{shown}}  {row.source}"
        for row, value in zip(rows, values, strict=True)
    )


def format_json(rows: list[ValueOrigin]) -> str:
    return json.dumps([row._asdict() for row in rows], indent=2)
