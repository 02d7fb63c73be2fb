"""What the operator decides the templates of its clusters by, as a namespace holds it now, or would after a change."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from steward.cli.inspect.fetch import read_kind
from steward.cli.template_updates import read_revisions
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind, Manifest, Ref, ref_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolved import Identity
from steward.multigres.template_updates.candidate import SPECS, Situation
from steward.multigres.template_updates.revisions import Content, Revision, TemplateKey

API: Final = "multigres.com/v1alpha1"
CLUSTER: Final = "MultigresCluster"
KINDS: Final = (CLUSTER, *SPECS)


class Place(NamedTuple):
    """The clusters and templates of a namespace, and the contents that were ever in force, by the cluster's uid."""

    objects: Mapping[Ref, Manifest]
    revisions: Mapping[str, Sequence[Revision]]

    def after(self, changed: Iterable[Manifest]) -> Place:
        """As if they had been applied. Pure."""
        new = {ref_of(each): _numbered(each, self.objects.get(ref_of(each))) for each in changed}
        return self._replace(objects={**self.objects, **new})

    def situations(self, now: datetime.datetime) -> dict[Ref, Situation]:
        """Of the clusters that nobody deletes. Pure."""
        clusters = {ref: each for ref, each in self.objects.items() if ref.kind.kind == CLUSTER}
        return {
            ref: self.situation(cluster, now) for ref, cluster in clusters.items() if not _is_leaving(cluster)
        }

    def situation(self, cluster: Manifest, now: datetime.datetime) -> Situation:
        metadata = cluster["metadata"]
        beside = {TemplateKey(each["kind"], each["metadata"]["name"]): each for each in self._templates()}
        return Situation(
            identity=Identity(metadata["namespace"], metadata["name"]),
            spec=msgspec.convert(cluster.get("spec") or {}, MultigresClusterSpec),
            live={key: _content(each) for key, each in beside.items() if not _is_leaving(each)},
            leaving=frozenset(key for key, each in beside.items() if _is_leaving(each)),
            revisions=tuple(self.revisions.get(metadata["uid"], ())),
            reported=(cluster.get("status") or {}).get("appliedTemplateGenerations"),
            annotations=metadata.get("annotations") or {},
            now=now,
        )

    def _templates(self) -> list[Manifest]:
        return [each for ref, each in self.objects.items() if ref.kind.kind in SPECS]


async def read_place(client: Client, namespace: str) -> Place:
    revisions, *lists = await asyncio.gather(
        read_revisions(client, namespace), *(read_kind(client, Kind(API, kind), namespace) for kind in KINDS)
    )
    return Place({ref_of(each): each for listed in lists for each in listed}, revisions)


def _numbered(new: Manifest, living: Manifest | None) -> Manifest:
    """With what the server counts for itself, and with the status, which applying leaves alone."""
    metadata = new["metadata"]
    if living is None:
        return {**new, "metadata": {**metadata, "uid": f"new-{metadata['name']}", "generation": 1}}
    uid, generation = living["metadata"]["uid"], living["metadata"]["generation"]
    is_another = new.get("spec") != living.get("spec")
    numbers = {"uid": uid, "generation": generation + is_another}
    return {**new, "metadata": {**metadata, **numbers}, "status": living.get("status")}


def _content(template: Manifest) -> Content:
    metadata = template["metadata"]
    return Content(metadata["uid"], metadata["generation"], template.get("spec") or {})


def _is_leaving(manifest: Manifest) -> bool:
    return "deletionTimestamp" in manifest["metadata"]
