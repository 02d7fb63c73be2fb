"""Carries out what was decided about a cluster's templates: writes contents down before anything is built on them.

The order is what makes a crash harmless. A content is recorded first; only then do children change, and only then does
the annotation go that asked for it. Whoever takes over in between finds the record and goes on from there.
"""

import datetime
from typing import Any

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import CONTROLLER_REVISION, Key, Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.objects.metadata import Owner
from steward.multigres.template_updates.notices import utc
from steward.multigres.template_updates.policy import Decision
from steward.multigres.template_updates.revisions import revision_manifest
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Apply, Delete, Emit, EventType, Patch, Plan, Requeue

UPDATE_AVAILABLE = "TemplateUpdateAvailable"
OUT_OF_USE = "its template is gone, or ten later contents are kept"
WARNINGS = frozenset({reasons.UPDATE_REFUSED, reasons.NO_SUCH_REVISION})
# Wall clocks are set and time zones change their rules: a window far away is asked for again.
LOOK_AGAIN_SECONDS = 3600.0


def recorded(owner: Owner, decision: Decision) -> Plan:
    """Goes out by itself, before anything else."""
    return tuple(Apply(revision_manifest(owner, record)) for record in decision.records)


def settled(cluster: ClusterView, decision: Decision, now: float) -> Plan:
    """Goes out once children are as the contents in force want them. One request at a time: taking its annotation away
    changes the version that the next one was seen with."""
    ref = Ref(CLUSTER, Key(cluster.metadata.namespace, cluster.metadata.name))
    told = [Emit(ref, news.reason, news.message, _type(news.reason)) for news in decision.news]
    asked = [_taken_away(ref, cluster, name) for name in decision.consumed]
    return (*told, *asked[:1], *_pruned(cluster, decision), *_next_look(decision, now))


def _taken_away(ref: Ref, cluster: ClusterView, annotation: str) -> Patch:
    """Only the annotation that was seen, from the object that was seen: what came in meanwhile is not lost."""
    version = cluster.metadata.resource_version
    return Patch(ref, MergePatch.metadata_as_seen(version, annotations={annotation: None}))


def _pruned(cluster: ClusterView, decision: Decision) -> Plan:
    namespace = cluster.metadata.namespace
    return tuple(
        Delete(Ref(CONTROLLER_REVISION, Key(namespace, known.name)), known.uid, OUT_OF_USE)
        for known in decision.surplus
    )


def _next_look(decision: Decision, now: float) -> Plan:
    if decision.next_window is None:
        return ()
    return (Requeue(min(max(decision.next_window.timestamp() - now, 1.0), LOOK_AGAIN_SECONDS)),)


def _type(reason: str) -> EventType:
    return EventType.WARNING if reason in WARNINGS else EventType.NORMAL


def update_condition(decision: Decision, generation: int) -> Condition:
    available, reason, message = decision.notice
    return Condition(UPDATE_AVAILABLE, TRUE if available else FALSE, reason, message, generation)


def update_status(decision: Decision) -> dict[str, Any]:
    told: dict[str, Any] = {"appliedTemplateGenerations": dict(decision.applied)}
    if decision.available:
        told["availableTemplateRevision"] = decision.available
    if decision.next_window is not None:
        told["nextUpdateWindow"] = utc(decision.next_window.astimezone(datetime.UTC))
    return told
