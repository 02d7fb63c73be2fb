"""Reads how clusters stand towards their templates: the contents in force, those before, and what waits."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from steward.cli.inspect.fetch import read_kind
from steward.kube.client.client import Client
from steward.kube.objects.kinds import CONTROLLER_REVISION, Manifest, Ref, ref_of
from steward.kube.objects.options import ListQuery
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.template_updates.history import Change, difference, kept, waiting
from steward.multigres.template_updates.revisions import (
    COMPONENT,
    Content,
    Revision,
    TemplateKey,
    read_revision,
)
from steward.multigres.views import RevisionView

MANAGER = "steward-cli"
_CONDITION = "TemplateUpdateAvailable"
_TEMPLATES = (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE)


class Standing(NamedTuple):
    """One cluster: what its status says of its templates, and the contents behind that."""

    ref: Ref
    version: str
    is_waiting: bool
    reason: str
    message: str
    available: str
    changes: tuple[Change, ...]
    revisions: tuple[Revision, ...]


class Beside(NamedTuple):
    """What stands beside the clusters, by namespace and by the uid of its cluster."""

    live: dict[str, dict[TemplateKey, Content]]
    revisions: dict[str, list[Revision]]


async def read_standings(client: Client, namespace: str) -> list[Standing]:
    """Of one namespace, or of all of them."""
    clusters, revisions, *templates = await asyncio.gather(
        read_kind(client, CLUSTER, namespace),
        read_revisions(client, namespace),
        *(read_kind(client, kind, namespace) for kind in _TEMPLATES),
    )
    live: dict[str, dict[TemplateKey, Content]] = {}
    for template in (each for listed in templates for each in listed):
        meta = template["metadata"]
        content = Content(meta["uid"], meta["generation"], template.get("spec") or {})
        live.setdefault(meta["namespace"], {})[TemplateKey(template["kind"], meta["name"])] = content
    return [standing(each, Beside(live, revisions)) for each in clusters]


async def read_one(client: Client, namespace: str, name: str) -> Standing | None:
    found = await read_standings(client, namespace)
    return next((each for each in found if each.ref.key.name == name), None)


def standing(cluster: Manifest, beside: Beside) -> Standing:
    """Pure."""
    meta, status = cluster["metadata"], cluster.get("status") or {}
    conditions = status.get("conditions") or ()
    told: dict[str, Any] = next((each for each in conditions if each["type"] == _CONDITION), {})
    used = status.get("appliedTemplateGenerations")
    kept_ones = beside.revisions.get(meta["uid"], ())
    # Contents of templates that the cluster has left are kept for its return, and are neither in force nor waiting.
    revisions = tuple(each for each in kept_ones if used is None or str(each.template) in used)
    return Standing(
        ref_of(cluster),
        meta["resourceVersion"],
        told.get("status") == "True",
        str(told.get("reason", "")),
        str(told.get("message", "")),
        str(status.get("availableTemplateRevision", "")),
        tuple(waiting(revisions, beside.live.get(meta["namespace"], {}))),
        revisions,
    )


def plain(each: Standing) -> dict[str, Any]:
    """For programs."""
    return {
        "namespace": each.ref.key.namespace,
        "name": each.ref.key.name,
        "isWaiting": each.is_waiting,
        "reason": each.reason,
        "message": each.message,
        "availableTemplateRevision": each.available,
        "changes": [
            {
                "template": str(change.template),
                "from": None if change.old is None else change.old.generation,
                "to": change.new.generation,
                "diff": difference(change),
            }
            for change in each.changes
        ],
        "kept": [
            {
                "name": known.revision.name,
                "template": str(known.revision.template),
                "generation": known.revision.content.generation,
                "number": known.revision.number,
                "isInForce": known.is_in_force,
            }
            for known in kept(each.revisions)
        ],
    }


async def read_revisions(client: Client, namespace: str) -> dict[str, list[Revision]]:
    """By the uid of the cluster that they belong to."""
    query = ListQuery(namespace=namespace, label_selector=f"app.kubernetes.io/component={COMPONENT}")
    found: dict[str, list[Revision]] = {}
    for seen in (await client.list(CONTROLLER_REVISION, query, RevisionView)).items:
        for owner in seen.metadata.owner_references:
            found.setdefault(owner.uid, []).append(read_revision(seen))
    return found
