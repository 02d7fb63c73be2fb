"""Which cells are registered, and which Cells are triggered by it."""

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.common.registered_cells import RegisteredCells
from steward.runtime.controller.triggers import Channel

CLUSTER, A, B = Key("shop", "mini"), Key("shop", "mini-a"), Key("shop", "mini-b")


def registered_cells() -> tuple[RegisteredCells, list[Key]]:
    triggered: list[Key] = []
    changes = Channel()
    changes.connect(lambda key, lane: triggered.append(key))
    return RegisteredCells(changes), triggered


def test_newly_registered_cell_is_triggered_once() -> None:
    cells, triggered = registered_cells()
    cells.record(CLUSTER, [A])
    cells.record(CLUSTER, [A, B])
    assert triggered == [A, B]
    assert A in cells


def test_cell_that_is_no_longer_registered_is_forgotten() -> None:
    cells, _ = registered_cells()
    cells.record(CLUSTER, [A, B])
    cells.record(CLUSTER, [B])
    assert A not in cells


def test_deleted_cell_and_deleted_cluster_are_forgotten() -> None:
    cells, _ = registered_cells()
    cells.record(CLUSTER, [A, B])
    cells.forget(A)
    assert A not in cells
    cells.forget_cluster(CLUSTER)
    assert B not in cells
