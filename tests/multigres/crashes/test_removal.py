"""Clusters and their parts are deleted and created again although the operator crashes at every write.

The result is always the same, and no object is created or deleted twice.
"""

from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.cluster_deletion import PASSWORD
from tests.multigres.support.crash_scenario import CrashScenario
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

pytestmark = CRASH_MARKS


@pytest.fixture
def scenario(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> CrashScenario:
    return CrashScenario(control_plane, kubectl, namespace)


def test_the_deletion_of_a_cluster_survives_a_crash_at_every_write(scenario: CrashScenario) -> None:
    scenario.apply_spec(databases=[database("postgres", group("default", "0-inf", default=EVERYWHERE))])
    scenario.run_until_done(scenario.is_ready)
    parts, claims = scenario.parts(), scenario.uids("pvc")
    since = scenario.mark()
    scenario.delete_cluster()
    # Each child is deleted, annotated, drained and released: most of these writes crash the operator.
    assert scenario.crash_until(lambda: scenario.remaining_objects() == [PASSWORD]) >= 10
    assert scenario.uids("pvc") == claims
    assert scenario.made(since) == []
    # The garbage collector deletes the Shard with its group.
    assert scenario.deleted(since) == sorted(part for part in parts if not part.startswith("shards/"))
    assert scenario.repeated(since) == []


def group(name: str, *shards: str, **pools: dict[str, Any]) -> dict[str, Any]:
    spec = {"pools": pools, "multiorch": {"replicas": 0, "cells": ["z1"]}}
    return {"name": name, "default": name == "default", "shards": [{"name": s, "spec": spec} for s in shards]}


def database(name: str, *groups: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "default": name == "postgres", "tablegroups": list(groups)}


EVERYWHERE = {"replicasPerCell": 2}
HERE, EMPTY = {**EVERYWHERE, "cells": ["z1"]}, {"replicasPerCell": 0, "cells": ["z1"]}
MORE = [
    database(
        "postgres",
        group("default", "0-inf", default=EVERYWHERE, more={**HERE, "replicasPerCell": 1}),
        group("split", "0-8", "8-inf", default=EMPTY),
        group("extra", "0-inf", default=HERE),
    ),
    database("other", group("default", "0-inf", default=EMPTY)),
]
FEWER = [
    database("postgres", group("default", "0-inf", default=EVERYWHERE), group("split", "0-8", default=EMPTY))
]
LEFT = ("z2", "pool-more", "split-8-inf", "extra", "other")
"""Parts of the names of objects that exist with MORE and two cells, and not with FEWER and one."""
OWN_SERVER = {"localTopoServer": {"etcd": {"replicas": 1}}}
BOTH_CELLS = [{"zone": "z1"}, {"zone": "z2", "spec": OWN_SERVER}]


def test_removing_and_restoring_parts_of_a_spec_survives_a_crash_at_every_write(
    scenario: CrashScenario,
) -> None:
    """A pool, a shard, a table group, a database and a cell with its own server at once; their volumes stay."""
    scenario.apply_spec(cells=BOTH_CELLS, databases=MORE)
    scenario.run_until_done(scenario.is_ready)
    before, claims = scenario.parts(), scenario.uids("pvc")
    since = scenario.mark()
    scenario.apply_spec(cells=BOTH_CELLS[:1], databases=FEWER)
    gone = {part for part in before if any(word in part for word in LEFT)}
    assert scenario.crash_until(lambda: scenario.is_ready() and scenario.parts() == before - gone) >= 10
    # Shards are deleted with their group: the operator deletes only the one that was removed by itself.
    with_group = {part for part in gone if part.startswith("shards/") and "split" not in part}
    assert scenario.deleted(since) == sorted(gone - with_group)
    assert scenario.repeated(since) == []
    assert scenario.uids("pvc") == claims, "retained claims are unchanged"
    since = scenario.mark()
    scenario.apply_spec(cells=BOTH_CELLS, databases=MORE)
    assert scenario.crash_until(lambda: scenario.is_ready() and scenario.parts() == before) >= 2
    assert scenario.made(since) == sorted(gone)
    assert scenario.repeated(since) == []
    assert scenario.uids("pvc") == claims, "and are used again"
