"""Reads the template state of clusters: active and earlier revisions, and pending changes."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, NamedTuple

from steward.cli.inspect.fetch import read_kind
from steward.kube.client.client import Client
from steward.kube.objects.kinds import CONTROLLER_REVISION, Manifest, Ref, ref_of
from steward.kube.objects.options import ListQuery
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.history import (
    TemplateChange,
    diff_lines,
    pending_changes,
    revision_history,
)
from steward.multigres.template_updates.revisions import (
    COMPONENT,
    TemplateContent,
    TemplateRevision,
    read_revision,
)
from steward.multigres.views import RevisionView

FIELD_MANAGER = "steward-cli"
_CONDITION = "TemplateUpdateAvailable"
_TEMPLATES = (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE)


class TemplateState(NamedTuple):
    """Template state of one cluster: its status, pending changes and stored revisions."""

    ref: Ref
    version: str
    is_waiting: bool
    reason: str
    message: str
    available: str
    changes: tuple[TemplateChange, ...]
    revisions: tuple[TemplateRevision, ...]


class TemplateContents(NamedTuple):
    """Live templates by namespace, and stored revisions by the uid of the cluster."""

    live: dict[str, dict[TemplateKey, TemplateContent]]
    revisions: dict[str, list[TemplateRevision]]


async def read_template_states(client: Client, namespace: str) -> list[TemplateState]:
    """Reads all clusters of a namespace; "" means all namespaces."""
    clusters, revisions, *templates = await asyncio.gather(
        read_kind(client, CLUSTER, namespace),
        read_revisions(client, namespace),
        *(read_kind(client, kind, namespace) for kind in _TEMPLATES),
    )
    live: dict[str, dict[TemplateKey, TemplateContent]] = {}
    for template in itertools.chain.from_iterable(templates):
        meta = template["metadata"]
        content = TemplateContent(meta["uid"], meta["generation"], template.get("spec") or {})
        live.setdefault(meta["namespace"], {})[TemplateKey(template["kind"], meta["name"])] = content
    return [template_state(cluster, TemplateContents(live, revisions)) for cluster in clusters]


async def read_template_state(client: Client, namespace: str, name: str) -> TemplateState | None:
    states = await read_template_states(client, namespace)
    return next((state for state in states if state.ref.key.name == name), None)


def template_state(cluster: Manifest, contents: TemplateContents) -> TemplateState:
    """Derives the state of a cluster. Pure."""
    meta, status = cluster["metadata"], cluster.get("status") or {}
    conditions = status.get("conditions") or ()
    condition: dict[str, Any] = next((each for each in conditions if each["type"] == _CONDITION), {})
    used = status.get("appliedTemplateGenerations")
    stored = contents.revisions.get(meta["uid"], ())
    # Revisions of templates that the cluster no longer uses are kept, but are neither active nor pending.
    revisions = tuple(each for each in stored if used is None or str(each.template) in used)
    return TemplateState(
        ref_of(cluster),
        meta["resourceVersion"],
        condition.get("status") == "True",
        str(condition.get("reason", "")),
        str(condition.get("message", "")),
        str(status.get("availableTemplateRevision", "")),
        tuple(pending_changes(revisions, contents.live.get(meta["namespace"], {}))),
        revisions,
    )


def template_state_dict(state: TemplateState) -> dict[str, Any]:
    """The state for JSON and YAML output."""
    return {
        "namespace": state.ref.key.namespace,
        "name": state.ref.key.name,
        "isWaiting": state.is_waiting,
        "reason": state.reason,
        "message": state.message,
        "availableTemplateRevision": state.available,
        "changes": [
            {
                "template": str(change.template),
                "from": None if change.old is None else change.old.generation,
                "to": change.new.generation,
                "diff": diff_lines(change),
            }
            for change in state.changes
        ],
        "kept": [
            {
                "name": entry.revision.name,
                "template": str(entry.revision.template),
                "generation": entry.revision.content.generation,
                "number": entry.revision.number,
                "isInForce": entry.is_active,
            }
            for entry in revision_history(state.revisions)
        ],
    }


async def read_revisions(client: Client, namespace: str) -> dict[str, list[TemplateRevision]]:
    """Stored revisions by the uid of their cluster."""
    query = ListQuery(namespace=namespace, label_selector=f"app.kubernetes.io/component={COMPONENT}")
    found: dict[str, list[TemplateRevision]] = {}
    for view in (await client.list(CONTROLLER_REVISION, query, RevisionView)).items:
        for owner in view.metadata.owner_references:
            found.setdefault(owner.uid, []).append(read_revision(view))
    return found
