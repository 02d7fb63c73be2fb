"""Fields that are declared once for a cluster reach every child."""

from msgspec.structs import fields

from steward.multigres.api.cluster_wide import ClusterWide, TableGroupWide
from steward.multigres.api.tablegroup import ResolvedShard, TableGroupSpec
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.shards import shard_manifests
from tests.multigres.support.tree import build_tree, of_kind

EVERY_FIELD = {
    "observability": {"otlpEndpoint": "http://collector:4318"},
    "postgresPasswordSecretRef": {"name": "password"},
}


def property_names(declared: type[ClusterWide]) -> set[str]:
    return {field.encode_name for field in fields(declared)}


def test_a_cell_gets_every_field_of_the_cluster() -> None:
    for cell in of_kind(build_tree(**EVERY_FIELD), "Cell"):
        assert property_names(ClusterWide) <= set(cell["spec"])


def test_a_table_group_gets_every_field_of_the_cluster() -> None:
    for group in of_kind(build_tree(**EVERY_FIELD), "TableGroup"):
        assert property_names(TableGroupWide) <= set(group["spec"])


def test_a_shard_gets_every_field_of_its_table_group() -> None:
    values = {field.name: f"value of {field.encode_name}" for field in fields(TableGroupWide)}
    group = TableGroupSpec("postgres", "default", shards=[ResolvedShard("0-inf")], **values)
    [shard] = shard_manifests(Owner("TableGroup", "example", "group", "uid"), "mini", group)
    for name in property_names(TableGroupWide):
        assert shard["spec"][name] == f"value of {name}"
