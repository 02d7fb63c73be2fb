"""The clusters, templates and revisions of a namespace, as they are or after a change."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from steward.cli.inspect.fetch import read_kind
from steward.cli.template_updates import read_revisions
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind, Manifest, Ref, ref_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.resolution.resolved import ClusterIdentity
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.candidate import TEMPLATE_SPECS, UpdateInputs
from steward.multigres.template_updates.objects_version import active_version
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision

API: Final = "multigres.com/v1alpha1"
CLUSTER: Final = "MultigresCluster"
CELL: Final = "Cell"
KINDS: Final = (CLUSTER, CELL, *TEMPLATE_SPECS)


class NamespaceSnapshot(NamedTuple):
    """Clusters, their Cells and templates of a namespace, and stored template revisions by the uid of the cluster."""

    objects: Mapping[Ref, Manifest]
    revisions: Mapping[str, Sequence[TemplateRevision]]

    def with_applied(self, changed: Iterable[Manifest]) -> NamespaceSnapshot:
        """The snapshot after applying the manifests. Pure."""
        new = {ref_of(each): _with_server_fields(each, self.objects.get(ref_of(each))) for each in changed}
        return self._replace(objects={**self.objects, **new})

    def all_update_inputs(self, now: datetime.datetime) -> dict[Ref, UpdateInputs]:
        """Inputs of the update decision of every cluster that is not terminating. Pure."""
        clusters = {ref: each for ref, each in self.objects.items() if ref.kind.kind == CLUSTER}
        return {
            ref: self.update_inputs(cluster, now)
            for ref, cluster in clusters.items()
            if not _is_terminating(cluster)
        }

    def update_inputs(self, cluster: Manifest, now: datetime.datetime) -> UpdateInputs:
        metadata = cluster["metadata"]
        templates = {TemplateKey(each["kind"], each["metadata"]["name"]): each for each in self._templates()}
        return UpdateInputs(
            identity=ClusterIdentity(metadata["namespace"], metadata["name"]),
            spec=msgspec.convert(cluster.get("spec") or {}, MultigresClusterSpec),
            live={
                key: _template_content(each) for key, each in templates.items() if not _is_terminating(each)
            },
            terminating=frozenset(key for key, each in templates.items() if _is_terminating(each)),
            revisions=tuple(self.revisions.get(metadata["uid"], ())),
            reported_generations=(cluster.get("status") or {}).get("appliedTemplateGenerations"),
            annotations=metadata.get("annotations") or {},
            now=now,
            objects_version=self._objects_version(metadata["name"]),
        )

    def _objects_version(self, cluster: str) -> int:
        """The version that the pods of the cluster have: a change of the cluster does not move it to another one."""
        cells = [each for ref, each in self.objects.items() if ref.kind.kind == CELL]
        own = [each for each in cells if each["metadata"].get("labels", {}).get(CLUSTER_LABEL) == cluster]
        return active_version(each["spec"].get("objectsVersion", UNSET) for each in own)

    def _templates(self) -> list[Manifest]:
        return [each for ref, each in self.objects.items() if ref.kind.kind in TEMPLATE_SPECS]


async def read_snapshot(client: Client, namespace: str) -> NamespaceSnapshot:
    revisions, *lists = await asyncio.gather(
        read_revisions(client, namespace), *(read_kind(client, Kind(API, kind), namespace) for kind in KINDS)
    )
    return NamespaceSnapshot({ref_of(each): each for listed in lists for each in listed}, revisions)


def _with_server_fields(new: Manifest, live: Manifest | None) -> Manifest:
    """The manifest with uid, generation and status as the server would have them after an apply."""
    metadata = new["metadata"]
    if live is None:
        return {**new, "metadata": {**metadata, "uid": f"new-{metadata['name']}", "generation": 1}}
    uid, generation = live["metadata"]["uid"], live["metadata"]["generation"]
    is_changed = new.get("spec") != live.get("spec")
    numbers = {"uid": uid, "generation": generation + is_changed}
    return {**new, "metadata": {**metadata, **numbers}, "status": live.get("status")}


def _template_content(template: Manifest) -> TemplateContent:
    metadata = template["metadata"]
    return TemplateContent(metadata["uid"], metadata["generation"], template.get("spec") or {})


def _is_terminating(manifest: Manifest) -> bool:
    return "deletionTimestamp" in manifest["metadata"]
