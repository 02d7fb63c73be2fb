"""What would grow out of a changed MultigresCluster, or out of clusters whose templates change, beside what grows now.

The trees before and after come from the operator's own builders. A cluster under `Manual` or `Window` keeps the
template contents that are in force, so a change of them does nothing to it at once, and neither does one that waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import yaml
from msgspec import UNSET

from steward.cli.documents import Document, read_documents
from steward.cli.growing import grown
from steward.cli.linting import resolved_cluster
from steward.cli.looking.reading import read_kind
from steward.cli.previewing import Outlook, difference
from steward.cli.template_updates import Standing, read_standings
from steward.kube.client import Client
from steward.kube.kinds import PERSISTENT_VOLUME_CLAIM, Key, Kind, Manifest, Ref, ref_of
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.revisions import Revision, in_force
from steward.runtime.dry_run import Verdict, clean

API: Final = "multigres.com/v1alpha1"
CLUSTER: Final = "MultigresCluster"
TEMPLATES: Final = ("CoreTemplate", "CellTemplate", "ShardTemplate")
KINDS: Final = (CLUSTER, *TEMPLATES)
_GONE: Final = "it grows out of nothing any more"
_UNUSED: Final = "it is not used any more; pvcDeletionPolicy says whether it stays"


class Held(NamedTuple):
    """How a cluster stands towards its templates."""

    contents: Mapping[Ref, Manifest] = {}
    """Of its templates, as they are in force for it."""
    waiting: str = ""
    """The name of what waits to be accepted."""
    is_rolled_back: bool = False


async def foreseen_trees(client: Client, changed: list[Manifest], namespaces: Iterable[str]) -> list[Outlook]:
    """`changed` is as the server's dry run answered: defaults and all."""
    found: list[Outlook] = []
    for namespace in sorted(set(namespaces)):
        now, standings = await asyncio.gather(_living(client, namespace), read_standings(client, namespace))
        held = {each.ref.key: _held(each) for each in standings}
        ours = {ref_of(each): each for each in changed if ref_of(each).key.namespace == namespace}
        found.extend(compared(_trees(now, held, ()), _trees({**now, **ours}, held, ours)))
    return found


def _held(standing: Standing) -> Held:
    place = standing.ref.key.namespace
    contents = [_template(place, revision) for revision in in_force(standing.revisions).values()]
    is_rolled_back = standing.reason == reasons.ROLLED_BACK
    return Held({ref_of(each): each for each in contents}, standing.available, is_rolled_back)


def _template(namespace: str, revision: Revision) -> Manifest:
    kind, name = revision.template
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": dict(revision.content.spec)}


async def _living(client: Client, namespace: str) -> dict[Ref, Manifest]:
    lists = await asyncio.gather(*(read_kind(client, Kind(API, kind), namespace) for kind in KINDS))
    return {ref_of(each): clean(each) for listed in lists for each in listed}


def _trees(
    objects: dict[Ref, Manifest], held: Mapping[Key, Held], changed: Collection[Ref]
) -> dict[Ref, Manifest]:
    """All that grows out of the clusters among the objects, each with the templates that it would be built from."""
    made: dict[Ref, Manifest] = {}
    for ref, manifest in objects.items():
        if ref.kind.kind == CLUSTER and "deletionTimestamp" not in manifest["metadata"]:
            known = {**objects, **kept_contents(manifest, held.get(ref.key, Held()), changed)}
            made.update({ref_of(each): each for each in _tree(manifest, known.values())})
    return made


def kept_contents(cluster: Manifest, held: Held, changed: Collection[Ref]) -> Mapping[Ref, Manifest]:
    """Of the templates that the cluster does not follow, with some that change. Pure."""
    policy: dict[str, Any] = cluster.get("spec", {}).get("updatePolicy") or {}
    if held.waiting and policy.get("acceptedRevision") == held.waiting:
        return {}
    if policy.get("templateChanges", "Auto") != "Auto":
        return held.contents
    # Who went back from a content stays on the one before, until the template changes again.
    stays = held.contents if held.is_rolled_back else {}
    return {ref: content for ref, content in stays.items() if ref not in changed}


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
