"""In which order a cluster goes, and who is let go."""

from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.cluster_order import (
    Present,
    Remains,
    Then,
    by_force,
    last_step,
    let_go,
    next_step,
    was_orphaned,
)
from steward.multigres.views import (
    WorkloadView,
)
from steward.runtime.plan.steps import Delete, Patch

GOING = "2027-01-15T08:00:00Z"


def present(kind: str, name: str, going: bool = False, owned: bool = True) -> Present:
    owners = (OwnerReference(uid="o", controller=True),) if owned else ()
    stamp = GOING if going else None
    meta = ObjectMeta(
        name=name, uid=name, resource_version="7", deletion_timestamp=stamp, owner_references=owners
    )
    known = WorkloadView(meta)
    return Present(Ref(Kind("multigres.com/v1alpha1", kind), Key("ns", name)), known)


C, G, S, T, R = (
    present("Cell", "c"),
    present("TableGroup", "g"),
    present("Shard", "s"),
    present("TopoServer", "t"),
    present("Secret", "r"),
)
GW = present("Deployment", "gw")
STRAY = present("Cell", "stray", owned=False)
ALL = Remains([C], [GW], [G], [S], [T], [R])


def deleted(plan: Any) -> list[str]:
    return [step.ref.key.name for step in plan]


@pytest.mark.parametrize(
    ("remains", "asked", "then"),
    [
        (ALL, ["c"], Then.WAIT),
        (ALL._replace(cells=[present("Cell", "c", going=True)]), [], Then.WAIT),
        (ALL._replace(gateways=[]), ["c", "g"], Then.WAIT),
        (ALL._replace(gateways=[], groups=[]), ["c"], Then.WAIT),
        (
            ALL._replace(cells=[], gateways=[], groups=[], shards=[present("Shard", "s", owned=False)]),
            ["s"],
            Then.WAIT,
        ),
        (
            ALL._replace(gateways=[], groups=[], shards=[], cells=[present("Cell", "c", going=True)]),
            [],
            Then.WAIT,
        ),
        (ALL._replace(cells=[], gateways=[], groups=[], shards=[]), [], Then.DEREGISTER),
    ],
)
def test_gateways_go_first_then_shards_then_cells_then_records(
    remains: Remains, asked: list[str], then: Then
) -> None:
    step = next_step(remains)
    assert (deleted(step.steps), step.then) == (asked, then)
    assert bool(step.waits_for) is (then is Then.WAIT)


@pytest.mark.parametrize(
    ("owned", "labelled", "is_through"),
    [([], [C], False), ([], [STRAY], True), ([C], [C, STRAY], False), ([], [], False)],
    ids=["another's", "let go", "a hand took one owner away", "nothing left"],
)
def test_a_cluster_whose_children_were_all_let_go_was_orphaned(
    owned: list[Present], labelled: list[Present], is_through: bool
) -> None:
    assert was_orphaned(owned, [each.seen for each in labelled]) is is_through


def test_whom_a_cluster_lets_go_keeps_its_other_owners_and_only_as_it_was_seen() -> None:
    [step] = let_go("o", [C])
    assert isinstance(step, Patch)
    assert step.patch == MergePatch.metadata_as_seen("7", ownerReferences=[])
    [step] = let_go("another", [C])
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    assert [owner["uid"] for owner in step.patch.changes["metadata"]["ownerReferences"]] == ["o"]


def test_nobody_is_asked_to_go_but_as_it_was_seen() -> None:
    """The garbage collector takes the owners away before anybody hears of it: a stale look must not delete."""
    assert [step.resource_version for step in by_force(ALL).steps if isinstance(step, Delete)] == ["7"] * 5


def test_the_topology_server_goes_after_the_records_and_the_rest_after_it() -> None:
    nobody = Remains([], [], [], [], [], [])
    assert deleted(last_step(nobody._replace(servers=[T], rest=[R])).steps) == ["t"]
    assert deleted(last_step(nobody._replace(rest=[R])).steps) == ["r"]
    assert last_step(nobody).then is Then.RELEASE


def test_by_force_everything_is_asked_at_once_and_waited_for() -> None:
    step = by_force(ALL)
    assert deleted(step.steps) == ["c", "g", "s", "t", "r"]
    assert step.waits_for.startswith("waiting for Cell c, TableGroup g")
    assert by_force(Remains([], [], [], [], [], [])).then is Then.DEREGISTER
