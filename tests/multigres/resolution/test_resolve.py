"""Resolution of a cluster: precedence of levels, merging and inheritance."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.resolution import defaults as constants
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from tests.multigres.support.typed_templates import templates
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml

SEEDS = ROOT / "tests" / "multigres" / "seeds"
IDENTITY = ClusterIdentity("example", "inline")
NONE = Templates({}, {}, {})


def cluster(**spec: Any) -> MultigresClusterSpec:
    return msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)


def seed(name: str) -> Any:
    return load_yaml((SEEDS / name).read_text())


def one_shard(resolved: ResolvedCluster) -> ResolvedShard:
    return resolved.databases[0].groups[0].shards[0]


def shards(spec: dict[str, Any], **more: Any) -> MultigresClusterSpec:
    shard = {"name": "0", **spec}
    group = {"name": "default", "default": True, "shards": [shard]}
    return cluster(databases=[{"name": "postgres", "default": True, "tablegroups": [group]}], **more)


def test_a_minimal_spec_resolves_to_a_complete_cluster() -> None:
    resolved = resolve(IDENTITY, cluster(), NONE)
    assert resolved.problems == ()
    assert [cell.name for cell in resolved.cells] == ["z1"]
    assert resolved.topo.reference.address == "inline-global-topo.example.svc:2379"
    assert resolved.topo.reference.root_path == "/multigres/global"
    assert [(d.name, d.default) for d in resolved.databases] == [("postgres", True)]
    shard = one_shard(resolved)
    assert shard.name == "0-inf"
    assert shard.pools.keys() == {"default"}
    assert shard.pools["default"].cells == ["z1"]
    assert shard.multiorch.cells == ["z1"]


def test_a_cell_without_name_and_zone_has_the_name_of_its_region() -> None:
    resolved = resolve(IDENTITY, cluster(cells=[{"region": "eu-west"}]), NONE)
    assert resolved.cells[0].name == "eu-west"


@pytest.mark.parametrize(
    ("own", "defaults", "existing", "replicas"),
    [
        ({"spec": {"replicas": 9}}, {"coreTemplate": "wide"}, ["wide", "default"], 9),
        ({"templateRef": "named"}, {"coreTemplate": "wide"}, ["named", "wide", "default"], 5),
        ({}, {"coreTemplate": "wide"}, ["wide", "default"], 4),
        ({}, {}, ["wide", "default"], 3),
        ({}, {}, ["wide"], 1),
    ],
    ids=["inline", "explicit template", "templateDefaults", "the template named default", "constants"],
)
def test_the_nearest_level_that_sets_a_value_wins(
    own: Any, defaults: Any, existing: list[str], replicas: int
) -> None:
    sizes = {"named": 5, "wide": 4, "default": 3}
    core = {name: {"multiadmin": {"spec": {"replicas": sizes[name]}}} for name in existing}
    resolved = resolve(IDENTITY, cluster(multiadmin=own, templateDefaults=defaults), templates(core=core))
    assert resolved.multiadmin.replicas == replicas


def test_an_inline_definition_takes_nothing_from_templates() -> None:
    shard = {"default": {"multiorch": {"replicas": 7}, "pools": {"main": {"replicasPerCell": 5}}}}
    resolved = resolve(IDENTITY, shards({"spec": {"pools": {"main": {}}}}), templates(shard=shard))
    assert one_shard(resolved).multiorch.replicas == constants.ORCHESTRATOR.replicas
    assert one_shard(resolved).pools["main"].replicas_per_cell == constants.POOL.replicas_per_cell
    assert resolved.templates["ShardTemplate"] == ()


def test_overrides_merge_over_the_template_by_pool_and_field() -> None:
    shard = {
        "default": {
            "pools": {"main": {"replicasPerCell": 5, "cells": ["z1"]}, "spare": {"replicasPerCell": 1}}
        }
    }
    spec = {"overrides": {"pools": {"main": {"cells": ["z2"]}}}}
    wide = shards(spec, cells=[{"zone": "z1"}, {"zone": "z2"}])
    pools = one_shard(resolve(IDENTITY, wide, templates(shard=shard))).pools
    assert pools.keys() == {"main", "spare"}
    assert pools["main"].cells == ["z2"]
    assert pools["main"].replicas_per_cell == 5


@pytest.mark.parametrize("block", ["postgres", "multipooler"])
def test_compute_is_replaced_as_a_whole(block: str) -> None:
    shard = {"default": {"pools": {"main": {block: {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}}}}
    spec = {"overrides": {"pools": {"main": {block: {"requests": {"cpu": "3"}}}}}}
    pool = one_shard(resolve(IDENTITY, shards(spec), templates(shard=shard))).pools["main"]
    assert msgspec.to_builtins(getattr(pool, block)) == {"requests": {"cpu": "3"}}


def test_storage_is_replaced_as_a_whole() -> None:
    shard = {"default": {"pools": {"main": {"storage": {"size": "10Gi", "class": "fast"}}}}}
    spec = {"overrides": {"pools": {"main": {"storage": {"size": "20Gi"}}}}}
    pool = one_shard(resolve(IDENTITY, shards(spec), templates(shard=shard))).pools["main"]
    assert msgspec.to_builtins(pool.storage) == {"size": "20Gi"}


def test_zero_replicas_is_a_value_and_absence_is_not() -> None:
    shard = {"default": {"pools": {"main": {"replicasPerCell": 4}}}}
    zero = shards({"overrides": {"pools": {"main": {"replicasPerCell": 0}}}})
    absent = shards({"overrides": {"pools": {"main": {}}}})
    assert one_shard(resolve(IDENTITY, zero, templates(shard=shard))).pools["main"].replicas_per_cell == 0
    assert one_shard(resolve(IDENTITY, absent, templates(shard=shard))).pools["main"].replicas_per_cell == 4


def test_only_the_entry_that_says_so_is_the_default_database_or_table_group() -> None:
    groups = [{"name": "orders"}, {"name": "default", "default": True}]
    databases = [{"name": "shop", "tablegroups": groups}, {"name": "postgres", "default": True}]
    resolved = resolve(IDENTITY, cluster(databases=databases), NONE)
    assert [(each.name, each.default) for each in resolved.databases] == [("shop", False), ("postgres", True)]
    found = [(group.name, group.default) for group in resolved.databases[0].groups]
    assert found == [("orders", False), ("default", True)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], [("postgres", True)]),
        ([{"name": "postgres"}], [("postgres", True)]),
        ([{"name": "shop"}], [("postgres", True), ("shop", False)]),
        ([{"name": "shop", "default": True}, {"name": "postgres"}], [("shop", True), ("postgres", False)]),
    ],
    ids=["none", "the one named postgres", "another", "another that says so"],
)
def test_every_cluster_has_a_default_database(written: Any, expected: list[tuple[str, bool]]) -> None:
    resolved = resolve(IDENTITY, cluster(databases=written), NONE)
    assert [(each.name, each.default) for each in resolved.databases] == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], [("default", True)]),
        ([{"name": "default"}], [("default", True)]),
        ([{"name": "orders"}], [("default", True), ("orders", False)]),
        ([{"name": "orders", "default": True}, {"name": "default"}], [("orders", True), ("default", False)]),
    ],
    ids=["none", "the one named default", "another", "another that says so"],
)
def test_every_database_has_a_default_table_group(written: Any, expected: list[tuple[str, bool]]) -> None:
    database = {"name": "postgres", "default": True, "tablegroups": written}
    [resolved] = resolve(IDENTITY, cluster(databases=[database]), NONE).databases
    assert [(group.name, group.default) for group in resolved.groups] == expected


def test_orchestrators_run_where_their_shard_says_or_else_where_its_servers_are() -> None:
    cells = [{"zone": zone} for zone in ("z1", "z2", "z3")]
    pools = {"a": {"cells": ["z2"]}, "b": {"cells": ["z3"]}}
    beside = resolve(IDENTITY, shards({"spec": {"pools": pools}}, cells=cells), NONE)
    assert one_shard(beside).multiorch.cells == ["z2", "z3"]
    chosen = shards({"spec": {"pools": pools, "multiorch": {"cells": ["z1"]}}}, cells=cells)
    assert one_shard(resolve(IDENTITY, chosen, NONE)).multiorch.cells == ["z1"]


def test_orchestrators_of_an_override_run_in_the_cells_that_it_names() -> None:
    cells = [{"zone": zone} for zone in ("z1", "z2")]
    template = {"multiorch": {"replicas": 3, "cells": ["z1"]}, "pools": {"main": {}}}
    shard = {"shardTemplate": "standard", "overrides": {"multiorch": {"cells": ["z2"]}}}
    resolved = resolve(IDENTITY, shards(shard, cells=cells), templates(shard={"standard": template}))
    assert (one_shard(resolved).multiorch.cells, one_shard(resolved).multiorch.replicas) == (["z2"], 3)


def test_an_empty_list_of_cells_means_all_cells() -> None:
    spec = shards({"spec": {"pools": {"main": {"cells": []}}}}, cells=[{"zone": "z2"}, {"zone": "z1"}])
    assert one_shard(resolve(IDENTITY, spec, NONE)).pools["main"].cells == ["z1", "z2"]


def test_a_cell_that_only_a_template_names_is_skipped_and_reported() -> None:
    shard = {"default": {"pools": {"main": {"cells": ["z1", "far"]}}}}
    resolved = resolve(IDENTITY, shards({}), templates(shard=shard))
    assert one_shard(resolved).pools["main"].cells == ["z1"]
    assert [skipped.cell for skipped in resolved.skipped] == ["far"]
    assert resolved.problems == ()


def test_a_pool_whose_only_cells_are_elsewhere_is_placed_nowhere_rather_than_everywhere() -> None:
    shard = {"default": {"pools": {"main": {}, "far": {"cells": ["far"]}}}}
    assert one_shard(resolve(IDENTITY, shards({}), templates(shard=shard))).pools["far"].cells == []


def test_an_unknown_cell_that_the_cluster_names_is_a_problem_at_its_field() -> None:
    resolved = resolve(IDENTITY, shards({"spec": {"pools": {"main": {"cells": ["nowhere"]}}}}), NONE)
    assert [(p.field.endswith("pools[main].cells"), p.message) for p in resolved.problems] == [
        (True, "cell 'nowhere' is not in spec.cells")
    ]


def test_an_unknown_template_is_a_problem_at_the_field_that_names_it() -> None:
    resolved = resolve(IDENTITY, cluster(templateDefaults={"cellTemplate": "gone"}), NONE)
    assert [problem.field for problem in resolved.problems] == ["spec.templateDefaults.cellTemplate"]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({}, ("Retain", "Retain")),
        ({"cluster": {"whenDeleted": "Delete"}}, ("Delete", "Retain")),
        ({"cluster": {"whenDeleted": "Delete"}, "group": {"whenScaled": "Delete"}}, ("Delete", "Delete")),
        ({"cluster": {"whenDeleted": "Delete"}, "pool": {"whenDeleted": "Retain"}}, ("Retain", "Retain")),
        ({"cluster": {"whenScaled": "Delete"}, "shard": {"whenScaled": "Retain"}}, ("Retain", "Retain")),
    ],
)
def test_each_field_of_the_volume_policy_inherits_separately(
    levels: dict[str, Any], expected: tuple[str, str]
) -> None:
    shard: dict[str, Any] = {"pools": {"main": {"pvcDeletionPolicy": levels.get("pool", {})}}}
    shard["pvcDeletionPolicy"] = levels.get("shard", {})
    group = {
        "name": "default",
        "default": True,
        "shards": [{"name": "0", "spec": shard}],
        "pvcDeletionPolicy": levels.get("group", {}),
    }
    spec = cluster(
        databases=[{"name": "postgres", "default": True, "tablegroups": [group]}],
        pvcDeletionPolicy=levels.get("cluster", {}),
    )
    policy = one_shard(resolve(IDENTITY, spec, NONE)).pools["main"].pvc_deletion_policy
    assert (policy.when_deleted, policy.when_scaled) == expected


def test_a_backup_of_the_same_type_merges_and_of_another_type_replaces() -> None:
    s3 = {"type": "s3", "s3": {"bucket": "b", "region": "r", "keyPrefix": "p"}}
    merged = shards({"backup": {"type": "s3", "s3": {"bucket": "own", "region": "r"}}}, backup=s3)
    replaced = shards({"backup": {"type": "filesystem"}}, backup=s3)
    own = one_shard(resolve(IDENTITY, merged, NONE)).backup
    assert (own.s3.bucket, own.s3.key_prefix) == ("own", "p")
    local = one_shard(resolve(IDENTITY, replaced, NONE)).backup
    assert local.s3 is msgspec.UNSET
    assert local.filesystem.path == "/backups"


def test_clusters_that_share_an_external_topology_server_have_different_root_paths() -> None:
    external = {"external": {"endpoints": ["https://a:2379", "https://b:2379"], "caSecret": "ca"}}
    reference = resolve(IDENTITY, cluster(globalTopoServer=external), NONE).topo.reference
    assert reference.address == "https://a:2379,https://b:2379"
    assert reference.root_path == "/multigres/example/inline/global"
    assert reference.ca_secret == "ca"


def test_deprecated_fields_are_replaced_by_current_ones() -> None:
    spec = shards({"spec": {"pools": {"main": {"cell": "z1", "replicas": 2}}}})
    pool = one_shard(resolve(IDENTITY, spec, NONE)).pools["main"]
    assert (pool.cells, pool.replicas_per_cell) == (["z1"], 2)
    assert pool.cell is msgspec.UNSET


def test_every_value_has_an_origin() -> None:
    shard = {"default": {"pools": {"main": {"replicasPerCell": 4, "type": "readOnly"}}}}
    spec = shards({"overrides": {"pools": {"main": {"replicasPerCell": 2}}}})
    origins = resolve(IDENTITY, spec, templates(shard=shard)).origins
    pool = ("databases", "postgres", "default", "0", "pools", "main")
    assert origins[(*pool, "type")] == "ShardTemplate default"
    assert origins[(*pool, "replicas_per_cell")].endswith(".overrides")
    assert origins[("multiadmin", "replicas")] == "built-in"


def test_the_large_example_resolves_with_the_templates_that_it_names() -> None:
    example = msgspec.convert(seed("multigrescluster-example-cluster.yaml")["spec"], MultigresClusterSpec)
    shard = seed("shardtemplate-standard-shard-ha.yaml")["spec"]
    existing = templates(
        core={"cluster-wide-core": seed("coretemplate-standard-core-ha.yaml")["spec"]},
        cell={
            name: seed("celltemplate-standard-cell-ha.yaml")["spec"]
            for name in ("standard-cell-ha", "cluster-wide-cell")
        },
        shard={"standard-shard-ha": shard, "cluster-wide-shard": shard},
    )
    resolved = resolve(IDENTITY, example, existing)
    assert resolved.problems == ()
    assert [cell.gateway.replicas for cell in resolved.cells] == [3, 2, 2]
    orders = next(g for d in resolved.databases for g in d.groups if g.name == "orders_tg")
    assert [shard.pools["primary"].cells for shard in orders.shards] == [
        ["us-east-1b"],
        ["us-east-1a"],
        ["us-east-1c"],
    ]
    assert {skipped.cell for skipped in resolved.skipped} == {"us-west-2a"}


REPLICAS = st.one_of(st.none(), st.integers(0, 5))


def _stateless(replicas: int | None) -> dict[str, Any]:
    return {} if replicas is None else {"replicas": replicas}


@given(REPLICAS, REPLICAS, REPLICAS)
@settings(max_examples=100)
def test_a_value_at_a_higher_level_always_wins(
    override: int | None, template: int | None, default: int | None
) -> None:
    cell = {"named": {"multiGateway": _stateless(template)}, "default": {"multiGateway": _stateless(default)}}
    entry = {"zone": "z1", "cellTemplate": "named", "overrides": {"multiGateway": _stateless(override)}}
    gateway = resolve(IDENTITY, cluster(cells=[entry]), templates(cell=cell)).cells[0].gateway
    expected = next(value for value in (override, template, constants.GATEWAY.replicas) if value is not None)
    assert gateway.replicas == expected


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_pools_makes_no_difference(order: list[str]) -> None:
    pools = {name: {"replicasPerCell": 1} for name in order}
    first = one_shard(resolve(IDENTITY, shards({"spec": {"pools": pools}}), NONE))
    again = one_shard(resolve(IDENTITY, shards({"spec": {"pools": dict(sorted(pools.items()))}}), NONE))
    assert msgspec.json.encode(first) == msgspec.json.encode(again)


@given(REPLICAS, st.sampled_from([None, "10Gi", "20Gi"]))
def test_resolving_a_resolved_shard_changes_nothing(replicas: int | None, size: str | None) -> None:
    pool: dict[str, Any] = {} if replicas is None else {"replicasPerCell": replicas}
    if size:
        pool["storage"] = {"size": size}
    once = one_shard(resolve(IDENTITY, shards({"spec": {"pools": {"main": pool}}}), NONE))
    inline = msgspec.to_builtins({"multiorch": once.multiorch, "pools": once.pools})
    twice = one_shard(resolve(IDENTITY, shards({"spec": inline}), NONE))
    assert msgspec.json.encode(once.pools) == msgspec.json.encode(twice.pools)
    assert msgspec.json.encode(once.multiorch) == msgspec.json.encode(twice.multiorch)


def test_a_struct_with_required_fields_comes_from_a_template_as_a_whole() -> None:
    reference = {"name": "tuned", "key": "postgresql.conf"}
    template = msgspec.convert({"postgresConfigRef": reference}, ShardTemplateSpec)
    spec = msgspec.convert({"cells": [{"zone": "z1"}]}, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity("shop", "mini"), spec, Templates({}, {}, {"default": template}))
    [located] = resolved.shards()
    assert msgspec.to_builtins(located.shard.postgres_config_ref) == reference


@pytest.mark.parametrize(
    ("own", "policy"),
    [
        ({}, ("Delete", "Delete")),
        ({"pvcDeletionPolicy": {"whenDeleted": "Retain"}}, ("Retain", "Delete")),
    ],
)
def test_a_local_topology_server_inherits_the_volume_policy_of_the_cluster(
    own: dict[str, Any], policy: tuple[str, str]
) -> None:
    cell = {"zone": "z1", "spec": {"localTopoServer": {"etcd": {"replicas": 1, **own}}}}
    every = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    [found] = resolve(IDENTITY, cluster(cells=[cell], pvcDeletionPolicy=every), NONE).cells
    assert found.local_topo is not None
    etcd = found.local_topo.etcd
    assert etcd is not msgspec.UNSET
    assert etcd.pvc_deletion_policy is not msgspec.UNSET
    assert (etcd.pvc_deletion_policy.when_deleted, etcd.pvc_deletion_policy.when_scaled) == policy
