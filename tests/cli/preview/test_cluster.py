"""Previews of changed files, with the update decisions of the operator."""

import copy
import datetime
from typing import Any

import pytest

from steward.cli.commands.explain import explain_live_cluster
from steward.cli.preview.cluster import compare_snapshots
from steward.cli.preview.namespace_snapshot import API, NamespaceSnapshot
from steward.cli.preview.text import PreviewEntry
from steward.kube.objects.kinds import Key, Manifest, ref_of
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision
from steward.runtime.plan.dry_run import DryRunOutcome

NOW = datetime.datetime(2031, 1, 15, 12, tzinfo=datetime.UTC)  # a Wednesday
SUNDAYS = {"templateChanges": "Window", "window": {"cron": "0 2 * * SUN"}}
WEDNESDAYS = {"templateChanges": "Window", "window": {"cron": "0 12 * * WED"}}
MANUAL = {"templateChanges": "Manual"}


def manifest(kind: str, name: str, spec: dict[str, Any], **more: Any) -> Manifest:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": 3}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec, **more}


def template(replicas: int, name: str = "standard") -> Manifest:
    pool = {"type": "readWrite", "replicasPerCell": 1, "storage": {"size": "1Gi"}}
    return manifest("ShardTemplate", name, {"multiorch": {"replicas": replicas}, "pools": {"main": pool}})


def cluster(policy: dict[str, Any] | None = None, **more: Any) -> Manifest:
    spec = {"cells": [{"name": "a", "zone": "z1"}], "updatePolicy": policy or {}, **more}
    chosen = {"templateDefaults": {"shardTemplate": "standard"}}
    return manifest("MultigresCluster", "demo", chosen | spec, status={"appliedTemplateGenerations": IN_USE})


IN_USE = {"ShardTemplate/standard": 3}


def revision(content: Manifest, number: int = 1) -> TemplateRevision:
    metadata = content["metadata"]
    stored = TemplateContent(metadata["uid"], metadata["generation"], content["spec"])
    key = TemplateKey(content["kind"], metadata["name"])
    return TemplateRevision(f"demo-{number}", f"r{number}", number, key, stored)


def snapshot(*objects: Manifest, revisions: tuple[TemplateRevision, ...] = ()) -> NamespaceSnapshot:
    return NamespaceSnapshot({ref_of(each): each for each in objects}, {"uid-demo": revisions})


STANDARD = template(1)


def after(policy: dict[str, Any], *changed: Manifest) -> list[PreviewEntry]:
    """The preview for a cluster that uses the current template."""
    now = snapshot(cluster(policy), STANDARD, revisions=(revision(STANDARD),))
    return compare_snapshots(now, now.with_applied(changed), NOW)


def outcomes(found: list[PreviewEntry]) -> list[tuple[str, str]]:
    return [(each.outcome.name, "" if each.ref is None else each.ref.kind.kind) for each in found]


FOLLOWS = [("CHANGE", "TableGroup"), ("CHANGE", "Shard"), ("CHANGE", "Deployment")]
WAITS = [("DEFERRED", "MultigresCluster")]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [({}, FOLLOWS), (MANUAL, WAITS), (SUNDAYS, WAITS), (WEDNESDAYS, FOLLOWS)],
    ids=["auto", "manual", "window", "open window"],
)
def test_a_changed_template_reaches_the_clusters_that_follow_it(
    policy: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert outcomes(after(policy, template(2))) == expected


def test_a_cluster_that_will_wait_is_shown_with_how_to_continue() -> None:
    [found] = after(MANUAL, template(2))
    assert str(found.ref) == "MultigresCluster shop/demo"
    assert found.message.startswith(
        "will wait for approval: ShardTemplate 'standard' has pending changes (generation 3 → 4); restarts "
    )
    assert "To apply, run `steward updates apply demo -n shop`, or set " in found.message
    [found] = after(SUNDAYS, template(2))
    assert "will wait for its window: " in found.message
    assert "It applies when the window opens at 2031-01-19T02:00:00Z" in found.message


def test_a_change_accepted_in_the_same_file_is_not_pending() -> None:
    [waiting] = after(MANUAL, template(2))
    accepted = waiting.message.rpartition("acceptedRevision to ")[2]
    agreeing = cluster({**MANUAL, "acceptedRevision": accepted})
    assert outcomes(after(MANUAL, agreeing, template(2))) == FOLLOWS
    assert outcomes(after(MANUAL, agreeing, template(3))) == WAITS


def test_a_label_of_a_template_is_no_change_of_its_content() -> None:
    labelled = copy.deepcopy(STANDARD)
    labelled["metadata"]["labels"] = {"team": "db"}
    assert after(MANUAL, labelled) == []


def test_a_change_that_was_already_pending_is_not_shown() -> None:
    now = snapshot(cluster(MANUAL), template(2), revisions=(revision(STANDARD),))
    edited = cluster(MANUAL, multiadmin={"spec": {"replicas": 2}})
    assert "DEFERRED" not in dict(outcomes(compare_snapshots(now, now.with_applied([edited]), NOW)))


def test_a_template_called_default_that_appears_waits_too() -> None:
    bare = cluster(MANUAL, templateDefaults={})
    bare["status"] = {"appliedTemplateGenerations": {}}
    now = snapshot(bare)
    assert outcomes(compare_snapshots(now, now.with_applied([template(2, "default")]), NOW)) == WAITS


def test_a_rolled_back_cluster_keeps_its_revision_until_its_template_changes_again() -> None:
    newer = template(2)
    newer["metadata"]["generation"] = 4
    now = snapshot(cluster(), newer, revisions=(revision(newer, 1), revision(STANDARD, 2)))
    edited = cluster(multiadmin={"spec": {"replicas": 2}})
    assert ("CHANGE", "Shard") not in outcomes(compare_snapshots(now, now.with_applied([edited]), NOW))
    assert outcomes(compare_snapshots(now, now.with_applied([template(5)]), NOW)) == FOLLOWS


def test_a_change_that_would_break_a_cluster_is_shown_as_rejected() -> None:
    smaller = template(1)
    smaller["spec"]["pools"]["main"]["storage"]["size"] = "1Mi"
    [found] = after({}, smaller)
    assert (found.outcome, str(found.ref)) == (DryRunOutcome.REJECTED, "MultigresCluster shop/demo")
    assert "The active content stays" in found.message


@pytest.mark.parametrize("policy", [MANUAL, SUNDAYS], ids=["manual", "window"])
def test_a_change_that_no_approval_could_apply_is_rejected_at_once(policy: dict[str, Any]) -> None:
    smaller = template(1)
    smaller["spec"]["pools"]["main"]["storage"]["size"] = "1Mi"
    [found] = after(policy, smaller)
    assert found.outcome is DryRunOutcome.REJECTED
    assert "cannot shrink" in found.message
    assert "kubectl annotate" not in found.message


def test_a_cluster_that_would_be_stalled_creates_no_objects() -> None:
    now = snapshot()
    [found] = compare_snapshots(now, now.with_applied([cluster()]), NOW)
    assert found.outcome is DryRunOutcome.REJECTED
    assert "it would be stalled: " in found.message


def test_a_live_cluster_is_explained_with_its_active_revision() -> None:
    moved_on = template(2)
    moved_on["metadata"]["generation"] = 4
    held = snapshot(cluster(MANUAL), moved_on, revisions=(revision(STANDARD),))
    found = {
        row.path: (row.value, row.source) for row in explain_live_cluster(held, Key("shop", "demo"), NOW)
    }
    shard = "databases[postgres].tablegroups[default].shards[0-inf]"
    assert found[f"{shard}.multiorch.replicas"] == (1, "ShardTemplate standard")
