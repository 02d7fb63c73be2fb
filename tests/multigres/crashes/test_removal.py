"""Clusters and parts of them go, and come back, although the operator is killed at every write on the way.

However many lives it takes, the story ends in the same place, and nothing is made or deleted twice.
"""

from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.integration.test_cluster_deletion import PASSWORD
from tests.multigres.support.crash_story import CrashStory
from tests.multigres.support.process_lives import OF_LIVES
from tests.support.kubectl import Kubectl

pytestmark = OF_LIVES


@pytest.fixture
def story(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> CrashStory:
    return CrashStory(control_plane, kubectl, namespace)


def test_the_deletion_of_a_cluster_survives_a_kill_at_every_write(story: CrashStory) -> None:
    story.ask()
    story.until(story.is_ready)
    parts, claims = story.parts(), story.uids("pvc")
    since = story.mark()
    story.delete_cluster()
    # Each child is asked to go, noted, drained, taken away and let go: most of these writes end two lives.
    assert story.lives(lambda: story.remains() == [PASSWORD]) >= 2 * 10
    assert story.uids("pvc") == claims
    assert story.made(since) == []
    # The Shard goes with its group.
    assert story.deleted(since) == sorted(part for part in parts if not part.startswith("shards/"))
    assert story.repeated(since) == []


def group(name: str, *shards: str, **pools: dict[str, Any]) -> dict[str, Any]:
    spec = {"pools": pools, "multiorch": {"replicas": 0, "cells": ["z1"]}}
    return {"name": name, "default": name == "default", "shards": [{"name": s, "spec": spec} for s in shards]}


def database(name: str, *groups: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "default": name == "postgres", "tablegroups": list(groups)}


EVERYWHERE = {"replicasPerCell": 1}
HERE, EMPTY = {**EVERYWHERE, "cells": ["z1"]}, {"replicasPerCell": 0, "cells": ["z1"]}
MORE = [
    database(
        "postgres",
        group("default", "0-inf", default=EVERYWHERE, more=HERE),
        group("split", "0-8", "8-inf", default=EMPTY),
        group("extra", "0-inf", default=HERE),
    ),
    database("other", group("default", "0-inf", default=EMPTY)),
]
FEWER = [
    database("postgres", group("default", "0-inf", default=EVERYWHERE), group("split", "0-8", default=EMPTY))
]
LEFT = ("z2", "pool-more", "split-8-inf", "extra", "other")
"""What the names of those parts hold that are in MORE and two cells, and not in FEWER and one."""
OWN_SERVER = {"localTopoServer": {"etcd": {"replicas": 1}}}
BOTH_CELLS = [{"zone": "z1"}, {"zone": "z2", "spec": OWN_SERVER}]


def test_what_leaves_the_spec_and_comes_back_survives_a_kill_at_every_write(story: CrashStory) -> None:
    """A pool, a shard, a table group, a database and a cell with its own server at once; their volumes stay."""
    story.ask(cells=BOTH_CELLS, databases=MORE)
    story.until(story.is_ready)
    before, claims = story.parts(), story.uids("pvc")
    since = story.mark()
    story.ask(cells=BOTH_CELLS[:1], databases=FEWER)
    gone = {part for part in before if any(word in part for word in LEFT)}
    assert story.lives(lambda: story.is_ready() and story.parts() == before - gone) >= 2 * 10
    # Shards go with their group: only the one that left alone was asked to.
    with_group = {part for part in gone if part.startswith("shards/") and "split" not in part}
    assert story.deleted(since) == sorted(gone - with_group)
    assert story.repeated(since) == []
    assert story.uids("pvc") == claims, "what is kept stays where it was"
    since = story.mark()
    story.ask(cells=BOTH_CELLS, databases=MORE)
    assert story.lives(lambda: story.is_ready() and story.parts() == before) >= 2 * 2
    assert story.made(since) == sorted(gone)
    assert story.repeated(since) == []
    assert story.uids("pvc") == claims, "and is taken again"
