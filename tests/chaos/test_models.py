"""What edits do to the desired state."""

from tests.chaos.cluster_model import ClusterModel
from tests.chaos.fleet_model import FleetModel
from tests.chaos.story import Edit


def test_the_last_cell_cannot_be_removed() -> None:
    model = ClusterModel()
    model.apply(Edit("cell", "z1"))
    assert [cell["zone"] for cell in model.spec()["cells"]] == ["z1"]


def test_a_volume_never_shrinks() -> None:
    model = ClusterModel()
    model.apply(Edit("size", "", 4))
    model.apply(Edit("size", "", 2))
    assert model.gigabytes == 4


def test_an_edit_of_a_missing_entry_changes_nothing() -> None:
    model = ClusterModel()
    model.apply(Edit("group", "orders"))
    assert model == ClusterModel()


def test_a_policy_that_deletes_claims_is_remembered() -> None:
    model = ClusterModel()
    model.apply(Edit("retention", "whenScaled", "Delete"))
    model.apply(Edit("retention", "whenScaled"))
    assert model.ever_deletes_claims


def test_a_row_that_was_away_for_a_while_is_not_steady() -> None:
    model = FleetModel()
    model.apply(Edit("row", "t1"))
    model.apply(Edit("row", "t1", {}))
    model.apply(Edit("row", "t7", {}))
    assert model.active() == {f"t{number}" for number in range(1, 8)}
    assert model.steady == {f"t{number}" for number in range(2, 7)}


def test_a_row_that_is_too_large_is_active_but_not_valid() -> None:
    model = FleetModel()
    model.apply(Edit("row", "huge", {"host_length": 2_000_000}))
    assert "huge" in model.active()
    assert "huge" not in model.valid()
