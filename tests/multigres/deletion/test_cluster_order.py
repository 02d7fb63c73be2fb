"""The order in which the parts of a cluster are deleted, and how they are orphaned."""

from typing import Any

import pytest

from steward.kube.objects.kinds import DEPLOYMENT, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.annotations import GraceSettings
from steward.multigres.deletion.cluster_order import (
    NO_WORKLOADS,
    NextAction,
    OwnerlessWorkloads,
    RemainingObject,
    RemainingObjects,
    final_deletion_step,
    forced_deletion_step,
    next_deletion_step,
    orphan_steps,
    revision_step,
    was_orphaned,
)
from steward.multigres.deletion.draining import DeletionTerms, DrainingWorkload, DrainStage
from steward.multigres.views import PodView, WorkloadView
from steward.runtime.plan.steps import Delete, Patch, Plan

TERMINATING = "2027-01-15T08:00:00Z"


def remaining_object(kind: str, name: str, terminating: bool = False, owned: bool = True) -> RemainingObject:
    owners = (OwnerReference(uid="o", controller=True),) if owned else ()
    stamp = TERMINATING if terminating else None
    meta = ObjectMeta(
        name=name, uid=name, resource_version="7", deletion_timestamp=stamp, owner_references=owners
    )
    known = WorkloadView(meta)
    return RemainingObject(Ref(Kind("multigres.com/v1alpha1", kind), Key("ns", name)), known)


C, G, S, T, R = (
    remaining_object("Cell", "c"),
    remaining_object("TableGroup", "g"),
    remaining_object("Shard", "s"),
    remaining_object("TopoServer", "t"),
    remaining_object("Secret", "r"),
)
GW = remaining_object("Deployment", "gw")
ORPHAN = remaining_object("Cell", "orphan", owned=False)
ENDING_ORPHAN = remaining_object("Cell", "orphan", terminating=True, owned=False)
TERMS = DeletionTerms({}, GraceSettings(), now=0.0)
ALL = RemainingObjects([C], [GW], [G], [S], [T], [R])


def deleted(plan: Any) -> list[str]:
    return [step.ref.key.name for step in plan]


@pytest.mark.parametrize(
    ("remaining", "deleted_names", "action"),
    [
        (ALL, ["c"], NextAction.WAIT),
        (ALL._replace(cells=[remaining_object("Cell", "c", terminating=True)]), [], NextAction.WAIT),
        (ALL._replace(gateways=[]), ["c", "g"], NextAction.WAIT),
        (ALL._replace(gateways=[], groups=[]), ["c"], NextAction.WAIT),
        (
            ALL._replace(
                cells=[], gateways=[], groups=[], shards=[remaining_object("Shard", "s", owned=False)]
            ),
            ["s"],
            NextAction.WAIT,
        ),
        (
            ALL._replace(
                gateways=[], groups=[], shards=[], cells=[remaining_object("Cell", "c", terminating=True)]
            ),
            [],
            NextAction.WAIT,
        ),
        (ALL._replace(cells=[], gateways=[], groups=[], shards=[]), [], NextAction.DEREGISTER),
    ],
)
def test_gateways_are_deleted_first_then_shards_then_cells_then_records(
    remaining: RemainingObjects, deleted_names: list[str], action: NextAction
) -> None:
    step = next_deletion_step(remaining, TERMS)
    assert (deleted(step.steps), step.action) == (deleted_names, action)
    assert bool(step.waits_for) is (action is NextAction.WAIT)


@pytest.mark.parametrize(
    ("owned", "labelled", "is_through"),
    [
        ([], [C], False),
        ([], [ORPHAN], True),
        ([C], [C, ORPHAN], False),
        ([], [], False),
        ([], [ENDING_ORPHAN], False),
    ],
    ids=[
        "owned by another",
        "orphaned",
        "one owner removed by a user",
        "nothing left",
        "the last child, whose owner a user removed, is ending",
    ],
)
def test_a_cluster_whose_children_have_all_lost_their_owner_was_orphaned(
    owned: list[RemainingObject], labelled: list[RemainingObject], is_through: bool
) -> None:
    assert was_orphaned(owned, [each.live for each in labelled]) is is_through


def test_orphaning_keeps_other_owners_and_requires_the_version_that_was_read() -> None:
    [step] = orphan_steps("o", [C])
    assert isinstance(step, Patch)
    assert step.patch == MergePatch.metadata_at_version("7", ownerReferences=[])
    [step] = orphan_steps("another", [C])
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    assert [owner["uid"] for owner in step.patch.changes["metadata"]["ownerReferences"]] == ["o"]


def test_every_delete_requires_the_version_that_was_read() -> None:
    """The garbage collector may have removed the owner already: a delete based on stale data must fail."""
    assert [
        step.resource_version for step in forced_deletion_step(ALL).steps if isinstance(step, Delete)
    ] == ["7"] * 5


def test_the_topology_server_is_deleted_after_the_records_and_the_rest_after_it() -> None:
    nothing = RemainingObjects([], [], [], [], [], [])
    assert deleted(final_deletion_step(nothing._replace(servers=[T], rest=[R]), TERMS).steps) == ["t"]
    assert deleted(final_deletion_step(nothing._replace(rest=[R]), TERMS).steps) == ["r"]
    assert final_deletion_step(nothing, TERMS).action is NextAction.RELEASE


def test_a_forced_deletion_deletes_everything_at_once_and_waits() -> None:
    step = forced_deletion_step(ALL)
    assert deleted(step.steps) == ["c", "g", "s", "t", "r"]
    assert step.waits_for.startswith("waiting for Cell c, TableGroup g")
    assert forced_deletion_step(RemainingObjects([], [], [], [], [], [])).action is NextAction.DEREGISTER


def ownerless_stage(name: str, pod: str = "") -> DrainStage:
    """A stage with a running workload of this name, and with a pod."""
    workload = DrainingWorkload(DEPLOYMENT, WorkloadView(ObjectMeta(name=name, uid=name)), [])
    pods = [PodView(ObjectMeta(name=pod, uid=pod, resource_version="7"))] if pod else []
    return DrainStage([workload] if name else [], 30.0, pods)


NOTHING = RemainingObjects([], [], [], [], [], [])
OWNERLESS = OwnerlessWorkloads(
    ownerless_stage("gw"),
    ownerless_stage("orch"),
    ownerless_stage("", "pool-0"),
    ownerless_stage("etcd"),
    ownerless_stage("admin"),
)


def touched(plan: Plan) -> list[str]:
    return [step.ref.key.name for step in plan if isinstance(step, Patch | Delete)]


def test_gateways_without_a_controller_are_drained_by_the_cluster() -> None:
    step = next_deletion_step(ALL._replace(ownerless=OWNERLESS), TERMS)
    assert (touched(step.steps), step.action) == (["c", "gw"], NextAction.WAIT)
    assert step.waits_for == "waiting for Deployment gw to end"
    drained = next_deletion_step(ALL._replace(gateways=[], ownerless=OWNERLESS), TERMS)
    assert drained.waits_for == "waiting for gw to end"


@pytest.mark.parametrize(
    ("count", "names"),
    [(1, "Secret r0"), (5, "Secret r0, Secret r1, Secret r2, Secret r3, Secret r4")],
)
def test_objects_that_are_waited_for_are_named(count: int, names: str) -> None:
    revisions = [remaining_object("Secret", f"r{number}") for number in range(count)]
    assert revision_step(revisions).waits_for == f"waiting for {names} to end"
    more = [*revisions, *(remaining_object("Secret", f"s{number}") for number in range(7 - count))]
    assert revision_step(more).waits_for.endswith(" and 2 more to end")


def test_only_objects_whose_controller_is_the_cluster_are_its_own() -> None:
    remaining = ALL._replace(cells=[C, ORPHAN])
    assert [each.ref.key.name for each in remaining.owned_by("o")] == ["c", "g", "t", "r"]
    assert remaining.owned_by("another") == []


@pytest.mark.parametrize(
    ("ownerless", "ended"),
    [
        (OWNERLESS._replace(gateways=NO_WORKLOADS), ["orch"]),
        (OWNERLESS._replace(gateways=NO_WORKLOADS, orchestrators=NO_WORKLOADS), ["pool-0"]),
    ],
    ids=["orchestrators first", "then servers"],
)
def test_servers_without_a_controller_end_after_the_shards_and_before_the_cells(
    ownerless: OwnerlessWorkloads, ended: list[str]
) -> None:
    cells = [remaining_object("Cell", "c", terminating=True)]
    waiting = NOTHING._replace(cells=cells, shards=[S], ownerless=ownerless)
    assert touched(next_deletion_step(waiting, TERMS).steps) == []
    step = next_deletion_step(waiting._replace(shards=[]), TERMS)
    assert (touched(step.steps), step.action) == (ended, NextAction.WAIT)
    assert step.waits_for == f"waiting for {ended[0]} to end"


def test_etcd_without_a_controller_ends_after_the_topology_server_and_before_the_rest() -> None:
    remaining = NOTHING._replace(servers=[T], rest=[R], ownerless=OWNERLESS)
    assert touched(final_deletion_step(remaining, TERMS).steps) == ["t"]
    assert touched(final_deletion_step(remaining._replace(servers=[]), TERMS).steps) == ["etcd"]


def test_a_forced_deletion_deletes_objects_without_a_controller_at_once() -> None:
    step = forced_deletion_step(NOTHING._replace(ownerless=OWNERLESS))
    assert deleted(step.steps) == ["gw", "orch", "pool-0", "etcd", "admin"]


def test_revisions_without_a_controller_are_deleted_last() -> None:
    assert touched(revision_step([R]).steps) == ["r"]
    assert revision_step([]).action is NextAction.RELEASE
