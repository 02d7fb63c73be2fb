"""The order in which the parts of a cluster are deleted, and how they are orphaned."""

from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.cluster_order import (
    NextAction,
    RemainingObject,
    RemainingObjects,
    final_deletion_step,
    forced_deletion_step,
    next_deletion_step,
    orphan_steps,
    was_orphaned,
)
from steward.multigres.views import (
    WorkloadView,
)
from steward.runtime.plan.steps import Delete, Patch

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
    step = next_deletion_step(remaining)
    assert (deleted(step.steps), step.action) == (deleted_names, action)
    assert bool(step.waits_for) is (action is NextAction.WAIT)


@pytest.mark.parametrize(
    ("owned", "labelled", "is_through"),
    [([], [C], False), ([], [ORPHAN], True), ([C], [C, ORPHAN], False), ([], [], False)],
    ids=["owned by another", "orphaned", "one owner removed by a user", "nothing left"],
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
    assert deleted(final_deletion_step(nothing._replace(servers=[T], rest=[R])).steps) == ["t"]
    assert deleted(final_deletion_step(nothing._replace(rest=[R])).steps) == ["r"]
    assert final_deletion_step(nothing).action is NextAction.RELEASE


def test_a_forced_deletion_deletes_everything_at_once_and_waits() -> None:
    step = forced_deletion_step(ALL)
    assert deleted(step.steps) == ["c", "g", "s", "t", "r"]
    assert step.waits_for.startswith("waiting for Cell c, TableGroup g")
    assert forced_deletion_step(RemainingObjects([], [], [], [], [], [])).action is NextAction.DEREGISTER
