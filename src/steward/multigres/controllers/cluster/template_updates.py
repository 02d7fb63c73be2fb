"""Plans the steps of a template update: revisions are recorded before anything is built from them.

The order makes a crash harmless: the content is recorded first, then the children change, and only then is the
annotation removed that requested the update. After a crash the next process finds the record and continues.
"""

import datetime
from typing import Any

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import CONTROLLER_REVISION, Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.objects.metadata import Owner
from steward.multigres.template_updates.notices import format_utc
from steward.multigres.template_updates.policy import UpdateDecision
from steward.multigres.template_updates.revisions import revision_manifest
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Apply, Delete, Emit, EventType, Patch, Plan, Requeue

UPDATE_AVAILABLE = "TemplateUpdateAvailable"
OUT_OF_USE = "its template is gone, or ten later contents are kept"
WARNINGS = frozenset({reasons.UPDATE_REFUSED, reasons.NO_SUCH_REVISION})
RECHECK_SECONDS = 3600.0
"""A distant window is computed again after this time: wall clocks are adjusted, and time zones change their rules."""


def record_steps(owner: Owner, decision: UpdateDecision) -> Plan:
    """A plan of its own, executed before all others."""
    return tuple(Apply(revision_manifest(owner, record)) for record in decision.records)


def update_steps(cluster: ClusterView, decision: UpdateDecision, now: float) -> Plan:
    """Executed once the children match the active revisions. One request at a time: removing its annotation changes the
    resource version with which the next one was read."""
    ref = Ref(CLUSTER, key_of(cluster))
    events = [Emit(ref, event.reason, event.message, _type(event.reason)) for event in decision.events]
    requests = [_remove_annotation_step(ref, cluster, name) for name in decision.consumed_annotations]
    return (*events, *requests[:1], *_prune_steps(cluster, decision), *_requeue_steps(decision, now))


def _remove_annotation_step(ref: Ref, cluster: ClusterView, annotation: str) -> Patch:
    """Only if the object has not changed since it was read: a newer request must not be lost."""
    version = cluster.metadata.resource_version
    return Patch(ref, MergePatch.metadata_at_version(version, annotations={annotation: None}))


def _prune_steps(cluster: ClusterView, decision: UpdateDecision) -> Plan:
    namespace = cluster.metadata.namespace
    return tuple(
        Delete(Ref(CONTROLLER_REVISION, Key(namespace, revision.name)), revision.uid, OUT_OF_USE)
        for revision in decision.to_prune
    )


def _requeue_steps(decision: UpdateDecision, now: float) -> Plan:
    if decision.next_window is None:
        return ()
    return (Requeue(min(max(decision.next_window.timestamp() - now, 1.0), RECHECK_SECONDS)),)


def _type(reason: str) -> EventType:
    return EventType.WARNING if reason in WARNINGS else EventType.NORMAL


def update_condition(decision: UpdateDecision, generation: int) -> Condition:
    available, reason, message = decision.notice
    return Condition(UPDATE_AVAILABLE, TRUE if available else FALSE, reason, message, generation)


def update_status(decision: UpdateDecision) -> dict[str, Any]:
    status: dict[str, Any] = {"appliedTemplateGenerations": dict(decision.applied_generations)}
    if decision.available_revision:
        status["availableTemplateRevision"] = decision.available_revision
    if decision.next_window is not None:
        status["nextUpdateWindow"] = format_utc(decision.next_window.astimezone(datetime.UTC))
    return status
