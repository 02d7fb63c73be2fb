"""What a changed file would do to the clusters beside it, decided as the operator decides."""

import copy
import datetime
from typing import Any

import pytest

from steward.cli.commands.explain import explained_in
from steward.cli.preview.cluster import foreseen
from steward.cli.preview.template_situation import API, Place
from steward.cli.preview.text import Outlook
from steward.kube.objects.kinds import Key, Manifest, ref_of
from steward.multigres.template_updates.revisions import Content, Revision, TemplateKey
from steward.runtime.plan.dry_run import Verdict

NOW = datetime.datetime(2031, 1, 15, 12, tzinfo=datetime.UTC)  # a Wednesday
SUNDAYS = {"templateChanges": "Window", "window": {"cron": "0 2 * * SUN"}}
WEDNESDAYS = {"templateChanges": "Window", "window": {"cron": "0 12 * * WED"}}
MANUAL = {"templateChanges": "Manual"}


def made(kind: str, name: str, spec: dict[str, Any], **more: Any) -> Manifest:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": 3}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec, **more}


def template(replicas: int, name: str = "standard") -> Manifest:
    pool = {"type": "readWrite", "replicasPerCell": 1, "storage": {"size": "1Gi"}}
    return made("ShardTemplate", name, {"multiorch": {"replicas": replicas}, "pools": {"main": pool}})


def cluster(policy: dict[str, Any] | None = None, **more: Any) -> Manifest:
    spec = {"cells": [{"name": "a", "zone": "z1"}], "updatePolicy": policy or {}, **more}
    chosen = {"templateDefaults": {"shardTemplate": "standard"}}
    return made("MultigresCluster", "demo", chosen | spec, status={"appliedTemplateGenerations": IN_USE})


IN_USE = {"ShardTemplate/standard": 3}


def revision(content: Manifest, number: int = 1) -> Revision:
    metadata = content["metadata"]
    said = Content(metadata["uid"], metadata["generation"], content["spec"])
    key = TemplateKey(content["kind"], metadata["name"])
    return Revision(f"demo-{number}", f"r{number}", number, key, said)


def place(*objects: Manifest, revisions: tuple[Revision, ...] = ()) -> Place:
    return Place({ref_of(each): each for each in objects}, {"uid-demo": revisions})


STANDARD = template(1)


def after(policy: dict[str, Any], *changed: Manifest) -> list[Outlook]:
    """With a settled cluster that stands on the template as it is."""
    now = place(cluster(policy), STANDARD, revisions=(revision(STANDARD),))
    return foreseen(now, now.after(changed), NOW)


def told(found: list[Outlook]) -> list[tuple[str, str]]:
    return [(each.verdict.name, "" if each.ref is None else each.ref.kind.kind) for each in found]


FOLLOWS = [("CHANGE", "TableGroup"), ("CHANGE", "Shard"), ("CHANGE", "Deployment")]
WAITS = [("WAITS", "MultigresCluster")]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [({}, FOLLOWS), (MANUAL, WAITS), (SUNDAYS, WAITS), (WEDNESDAYS, FOLLOWS)],
    ids=["auto", "manual", "window", "open window"],
)
def test_a_changed_template_reaches_the_clusters_that_follow_it(
    policy: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert told(after(policy, template(2))) == expected


def test_a_cluster_that_will_wait_is_told_with_what_lets_it_go_on() -> None:
    [found] = after(MANUAL, template(2))
    assert str(found.ref) == "MultigresCluster shop/demo"
    assert found.told.startswith(
        "will wait for approval: ShardTemplate 'standard' has pending changes (generation 3 → 4); restarts "
    )
    assert "multigres.com/apply-template-update=true" in found.told
    [found] = after(SUNDAYS, template(2))
    assert "will wait for its window: " in found.told
    assert "It applies when the window opens at 2031-01-19T02:00:00Z" in found.told


def test_what_is_accepted_in_the_same_file_does_not_wait() -> None:
    [waiting] = after(MANUAL, template(2))
    accepted = waiting.told.rpartition("acceptedRevision to ")[2]
    agreeing = cluster({**MANUAL, "acceptedRevision": accepted})
    assert told(after(MANUAL, agreeing, template(2))) == FOLLOWS
    assert told(after(MANUAL, agreeing, template(3))) == WAITS


def test_a_label_of_a_template_is_no_change_of_its_content() -> None:
    labelled = copy.deepcopy(STANDARD)
    labelled["metadata"]["labels"] = {"team": "db"}
    assert after(MANUAL, labelled) == []


def test_what_waits_already_is_no_news() -> None:
    now = place(cluster(MANUAL), template(2), revisions=(revision(STANDARD),))
    edited = cluster(MANUAL, multiadmin={"spec": {"replicas": 2}})
    assert "WAITS" not in dict(told(foreseen(now, now.after([edited]), NOW)))


def test_a_template_called_default_that_appears_waits_too() -> None:
    bare = cluster(MANUAL, templateDefaults={})
    bare["status"] = {"appliedTemplateGenerations": {}}
    now = place(bare)
    assert told(foreseen(now, now.after([template(2, "default")]), NOW)) == WAITS


def test_a_cluster_that_went_back_stays_there_until_its_template_changes_again() -> None:
    newer = template(2)
    newer["metadata"]["generation"] = 4
    now = place(cluster(), newer, revisions=(revision(newer, 1), revision(STANDARD, 2)))
    edited = cluster(multiadmin={"spec": {"replicas": 2}})
    assert ("CHANGE", "Shard") not in told(foreseen(now, now.after([edited]), NOW))
    assert told(foreseen(now, now.after([template(5)]), NOW)) == FOLLOWS


def test_a_change_that_would_break_a_cluster_is_refused_by_it() -> None:
    smaller = template(1)
    smaller["spec"]["pools"]["main"]["storage"]["size"] = "1Mi"
    [found] = after({}, smaller)
    assert (found.verdict, str(found.ref)) == (Verdict.REFUSED, "MultigresCluster shop/demo")
    assert "What was in force stays" in found.told


def test_a_cluster_that_would_be_stalled_grows_nothing() -> None:
    now = place()
    [found] = foreseen(now, now.after([cluster()]), NOW)
    assert found.verdict is Verdict.REFUSED
    assert "it would be stalled: " in found.told


def test_a_living_cluster_is_explained_on_what_is_in_force() -> None:
    moved_on = template(2)
    moved_on["metadata"]["generation"] = 4
    held = place(cluster(MANUAL), moved_on, revisions=(revision(STANDARD),))
    found = {row.path: (row.value, row.source) for row in explained_in(held, Key("shop", "demo"), NOW)}
    shard = "databases[postgres].tablegroups[default].shards[0-inf]"
    assert found[f"{shard}.multiorch.replicas"] == (1, "ShardTemplate standard")
