"""Reads the template state of clusters: active and earlier revisions, and pending changes."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, NamedTuple

from steward.cli.inspect.elsewhere import require_installed
from steward.cli.inspect.fetch import read_kind
from steward.kube.client.client import Client
from steward.kube.objects.kinds import CONTROLLER_REVISION, Manifest, Ref, ref_of
from steward.kube.objects.options import ListQuery
from steward.multigres import reasons
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.history import (
    TemplateChange,
    diff_lines,
    pending_changes,
    revision_history,
)
from steward.multigres.template_updates.objects_version import OPERATOR_UPDATE
from steward.multigres.template_updates.revisions import (
    COMPONENT,
    TemplateContent,
    TemplateRevision,
    read_revision,
)
from steward.multigres.views import RevisionView

TEMPLATE_UPDATE = "TemplateUpdateAvailable"
_TEMPLATES = (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE)


class ReportedUpdate(NamedTuple):
    """A condition about pending changes, as the status has it; empty if it has none."""

    is_reported: bool = False
    reason: str = ""
    message: str = ""

    @property
    def is_waiting(self) -> bool:
        return self.is_reported and self.reason != reasons.OPERATOR_UPDATE_IN_PROGRESS


class TemplateState(NamedTuple):
    """Pending changes of a cluster, by templates and by a new version of the operator, and its stored revisions."""

    ref: Ref
    version: str
    template: ReportedUpdate
    operator: ReportedUpdate
    available: str
    changes: tuple[TemplateChange, ...]
    revisions: tuple[TemplateRevision, ...]

    @property
    def is_waiting(self) -> bool:
        return self.template.is_waiting or self.operator.is_waiting

    @property
    def message(self) -> str:
        """What waits and why; what is in progress, too."""
        pending = [each.message for each in (self.template, self.operator) if each.is_reported]
        return "\n".join(pending) or self.template.message


class TemplateContents(NamedTuple):
    """Live templates by namespace, and stored revisions by the uid of the cluster."""

    live: dict[str, dict[TemplateKey, TemplateContent]]
    revisions: dict[str, list[TemplateRevision]]


async def read_template_states(client: Client, namespace: str) -> list[TemplateState]:
    """Reads all clusters of a namespace; "" means all namespaces."""
    await require_installed(client, CLUSTER)
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
    used = status.get("appliedTemplateGenerations")
    stored = contents.revisions.get(meta["uid"], ())
    # Revisions of templates that the cluster no longer uses are kept, but are neither active nor pending.
    revisions = tuple(each for each in stored if used is None or str(each.template) in used)
    return TemplateState(
        ref_of(cluster),
        meta["resourceVersion"],
        _reported_update(status, TEMPLATE_UPDATE),
        _reported_update(status, OPERATOR_UPDATE),
        str(status.get("availableTemplateRevision", "")),
        tuple(pending_changes(revisions, contents.live.get(meta["namespace"], {}))),
        revisions,
    )


def _reported_update(status: Manifest, type_: str) -> ReportedUpdate:
    conditions = status.get("conditions") or ()
    found: dict[str, Any] = next((each for each in conditions if each["type"] == type_), {})
    return ReportedUpdate(
        found.get("status") == "True", str(found.get("reason", "")), str(found.get("message", ""))
    )


def template_state_dict(state: TemplateState) -> dict[str, Any]:
    """The state for JSON and YAML output."""
    return {
        "namespace": state.ref.key.namespace,
        "name": state.ref.key.name,
        "isWaiting": state.is_waiting,
        "reason": state.template.reason,
        "message": state.template.message,
        "operatorUpdate": {"reason": state.operator.reason, "message": state.operator.message}
        if state.operator.is_reported
        else None,
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
