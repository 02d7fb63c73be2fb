"""What would grow out of a changed MultigresCluster, or out of clusters whose templates change, beside what grows now.

The trees before and after come from the operator's own builders. A cluster under `Manual` or `Window` keeps the
templates that are in force, so a change of them does nothing to it at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml
from msgspec import UNSET

from steward.cli.documents import Document, read_documents
from steward.cli.growing import grown
from steward.cli.linting import resolved_cluster
from steward.cli.looking.reading import read_kind
from steward.cli.previewing import Outlook, difference
from steward.kube.client import Client
from steward.kube.kinds import PERSISTENT_VOLUME_CLAIM, Kind, Manifest, Ref, ref_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.runtime.dry_run import Verdict, clean

API: Final = "multigres.com/v1alpha1"
CLUSTER: Final = "MultigresCluster"
TEMPLATES: Final = ("CoreTemplate", "CellTemplate", "ShardTemplate")
KINDS: Final = (CLUSTER, *TEMPLATES)
_GONE: Final = "it grows out of nothing any more"
_UNUSED: Final = "it is not used any more; pvcDeletionPolicy says whether it stays"


async def foreseen_trees(client: Client, changed: list[Manifest], namespaces: Iterable[str]) -> list[Outlook]:
    """`changed` is as the server's dry run answered: defaults and all."""
    found: list[Outlook] = []
    for namespace in sorted(set(namespaces)):
        now = await _living(client, namespace)
        then = {**now, **{ref_of(each): each for each in changed if ref_of(each).key.namespace == namespace}}
        found.extend(compared(_trees(now, now), _trees(then, now)))
    return found


async def _living(client: Client, namespace: str) -> dict[Ref, Manifest]:
    lists = await asyncio.gather(*(read_kind(client, Kind(API, kind), namespace) for kind in KINDS))
    return {ref_of(each): clean(each) for listed in lists for each in listed}


def _trees(objects: dict[Ref, Manifest], in_force: dict[Ref, Manifest]) -> dict[Ref, Manifest]:
    """All that grows out of the clusters among the objects, each with the templates that it would be built from."""
    made: dict[Ref, Manifest] = {}
    for ref, manifest in objects.items():
        if ref.kind.kind == CLUSTER and "deletionTimestamp" not in manifest["metadata"]:
            known = objects if _follows_at_once(manifest) else {**objects, **in_force}
            made.update({ref_of(each): each for each in _tree(manifest, known.values())})
    return made


def _follows_at_once(cluster: dict[str, Any]) -> bool:
    policy = cluster.get("spec", {}).get("updatePolicy") or {}
    return bool(policy.get("templateChanges", "Auto") == "Auto")


def _tree(cluster: Manifest, known: Iterable[Manifest]) -> Iterable[Manifest]:
    templates = [_document(each) for each in known if each["kind"] in TEMPLATES]
    document = _document(cluster)
    spec = msgspec.convert(cluster.get("spec") or {}, MultigresClusterSpec)
    resolved = resolved_cluster(document, spec, templates)
    return grown(document.namespace or "default", document.name, spec, resolved)


def _document(manifest: Manifest) -> Document:
    text = yaml.dump(manifest, Dumper=yaml.CSafeDumper)
    return next(read_documents(str(ref_of(manifest)), text))


def compared(now: dict[Ref, Manifest], then: dict[Ref, Manifest]) -> list[Outlook]:
    """Pure."""
    created = [Outlook(Verdict.CREATE, ref) for ref in then if ref not in now]
    deleted = [_parting(ref) for ref in now if ref not in then]
    both = ((ref, tuple(difference(_bare(now[ref]), _bare(then[ref])))) for ref in then if ref in now)
    return [*deleted, *(Outlook(Verdict.CHANGE, ref, diff) for ref, diff in both if diff), *created]


def _parting(ref: Ref) -> Outlook:
    if ref.kind == PERSISTENT_VOLUME_CLAIM:
        return Outlook(Verdict.UNKNOWN, ref, told=_UNUSED)
    return Outlook(Verdict.DELETE, ref, told=_GONE)


def _bare(value: Any) -> Any:
    """Without what was left out: a value that is not there is no line of a diff."""
    if isinstance(value, dict):
        return {key: _bare(each) for key, each in value.items() if each is not UNSET}
    if isinstance(value, list | tuple):
        return [_bare(each) for each in value]
    return msgspec.to_builtins(value)
