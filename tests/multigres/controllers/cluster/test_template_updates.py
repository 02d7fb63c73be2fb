"""The steps of a template update and their order."""

import datetime
from typing import Any

import msgspec

from steward.kube.objects.kinds import CONTROLLER_REVISION
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.cluster.template_updates import (
    record_steps,
    update_condition,
    update_status,
    update_steps,
)
from steward.multigres.objects.metadata import Owner
from steward.multigres.resolution.resolved import ClusterIdentity
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.candidate import UpdateInputs
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import UpdateDecision, decide_update
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision, revision_name
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Apply, Delete, Emit, EventType, Patch, Requeue

GATE = TemplateKey("CellTemplate", "gate")
OTHER = TemplateKey("CellTemplate", "other")
NOW = datetime.datetime(2026, 1, 5, 12, 0, tzinfo=datetime.UTC)
OWNER = Owner("MultigresCluster", "ns", "demo", "u")
META = ObjectMeta(
    name="demo", namespace="ns", uid="u", resource_version="42", annotations={APPLY_NOW: "true", "a": "b"}
)
CLUSTER = ClusterView(META)


def content(generation: int) -> TemplateContent:
    return TemplateContent("t", generation, {"multiGateway": {"replicas": generation}})


def revision(template: TemplateKey) -> TemplateRevision:
    return TemplateRevision(revision_name("demo", template, content(1)), "r", 1, template, content(1))


def decision(policy: dict[str, Any], annotations: dict[str, str] | None = None) -> UpdateDecision:
    spec = {"cells": [{"zone": "z1"}], "templateDefaults": {"cellTemplate": "gate"}, "updatePolicy": policy}
    return decide_update(
        UpdateInputs(
            identity=ClusterIdentity("ns", "demo"),
            spec=msgspec.convert(spec, MultigresClusterSpec),
            live={GATE: content(2)},
            terminating=frozenset(),
            revisions=(revision(GATE), revision(OTHER)),
            reported_generations={},
            annotations=annotations or {},
            now=NOW,
        )
    )


def test_a_template_content_is_recorded_as_a_revision_of_the_cluster() -> None:
    [step] = record_steps(OWNER, decision({}))
    assert isinstance(step, Apply)
    assert step.ref.kind == CONTROLLER_REVISION
    assert step.manifest["revision"] == 2
    [owner] = step.manifest["metadata"]["ownerReferences"]
    assert (owner["name"], owner["controller"]) == ("demo", True)


def test_the_annotation_is_removed_from_the_version_that_was_read() -> None:
    steps = update_steps(
        CLUSTER, decision({"templateChanges": "Manual"}, {APPLY_NOW: "true"}), NOW.timestamp()
    )
    [patch] = [step for step in steps if isinstance(step, Patch)]
    assert patch.patch == MergePatch.metadata_at_version("42", annotations={APPLY_NOW: None})


def test_unused_revisions_are_pruned_and_the_update_emits_an_event() -> None:
    steps = update_steps(CLUSTER, decision({}), NOW.timestamp())
    [pruned] = [step for step in steps if isinstance(step, Delete)]
    assert pruned.ref.key.name == revision(OTHER).name
    [event] = [step for step in steps if isinstance(step, Emit)]
    assert (event.reason, event.type) == (reasons.UPDATE_APPLIED, EventType.NORMAL)
    assert "generation 1 → 2" in event.message


def test_the_cluster_is_requeued_when_its_window_opens_or_within_the_hour() -> None:
    soon = {"templateChanges": "Window", "window": {"cron": "20 12 * * *", "duration": "5m"}}
    far = {"templateChanges": "Window", "window": {"cron": "0 2 * * SUN"}}
    for policy, seconds in ((soon, 20 * 60.0), (far, 3600.0)):
        steps = update_steps(CLUSTER, decision(policy), NOW.timestamp())
        assert [step.after for step in steps if isinstance(step, Requeue)] == [seconds]
    assert not any(isinstance(step, Requeue) for step in update_steps(CLUSTER, decision({}), NOW.timestamp()))


def test_the_status_names_the_active_and_the_available_revision_and_the_next_window() -> None:
    waiting = decision({"templateChanges": "Window", "window": {"cron": "0 2 * * SUN"}})
    assert update_status(waiting) == {
        "appliedTemplateGenerations": {"CellTemplate/gate": 1},
        "availableTemplateRevision": waiting.available_revision,
        "nextUpdateWindow": "2026-01-11T02:00:00Z",
    }
    condition = update_condition(waiting, 7)
    assert (condition.type, condition.status) == ("TemplateUpdateAvailable", "True")
    assert update_status(decision({})) == {"appliedTemplateGenerations": {"CellTemplate/gate": 2}}
    assert update_condition(decision({}), 7).status == "False"
