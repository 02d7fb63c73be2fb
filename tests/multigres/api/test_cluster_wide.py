"""Order of the properties of kinds with inherited fields."""

import pytest
from msgspec.structs import fields

from steward.kube.crd.schema import property_names
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.cluster_wide import ClusterWide
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec

SPECS: dict[type[ClusterWide], str] = {
    CellSpec: "name",
    TableGroupSpec: "databaseName",
    ShardSpec: "shardName",
}


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_starts_with_its_own_name_and_has_every_field_once(spec: type[ClusterWide]) -> None:
    names = property_names(spec)
    assert names[0] == SPECS[spec]
    assert sorted(names) == sorted(field.encode_name for field in fields(spec))


def test_a_field_without_a_place_in_the_order_comes_last() -> None:
    class Extended(CellSpec, kw_only=True):
        added: str = ""

    assert property_names(Extended)[-1] == "added"
