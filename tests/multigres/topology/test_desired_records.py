"""Records that a cluster needs in the topology server."""

from typing import Any

import msgspec
import pytest

from steward.multigres import names
from steward.multigres.api.cell import CellSpec, CellTopoServer
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.topo import Etcd, TopoReference
from steward.multigres.names import ShardPath
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.topology.desired_records import (
    cell_reference,
    database_cells,
    desired_records,
    existing_cell_reference,
    expected_pods,
    local_server_name,
    poolers_by_shard,
    primary_cells,
    shards_with_servers,
)
from steward.multigres.topology.protobuf import DecodedMessage
from steward.multigres.topology.store_records import decode_cell, decode_pooler
from tests.multigres.support.pooler_records import encode_pooler

GLOBAL = "mini-global-topo.shop.svc:2379"
OWN = names.local_topo(names.cell("mini", "z1"))
EXTERNAL = {"endpoints": ["https://a:2379", "https://b:2379"], "caSecret": "ca"}


def resolved(**spec: Any) -> ResolvedCluster:
    typed = msgspec.convert({"cells": [{"zone": "z1"}, {"zone": "z2"}], **spec}, MultigresClusterSpec)
    return resolve(ClusterIdentity("shop", "mini"), typed, Templates({}, {}, {}))


def with_own_server(server: dict[str, Any]) -> ResolvedCluster:
    return resolved(cells=[{"zone": "z1", "spec": {"localTopoServer": server}}, {"zone": "z2"}])


@pytest.mark.parametrize(
    ("cluster", "addresses", "root"),
    [
        (resolved(), (GLOBAL,), "/multigres/global"),
        (with_own_server({"etcd": {}}), (f"{OWN}.shop.svc:2379",), "/multigres/z1"),
        (with_own_server({"etcd": {"rootPath": "/own"}}), (f"{OWN}.shop.svc:2379",), "/own"),
        (
            with_own_server({"external": EXTERNAL}),
            ("https://a:2379", "https://b:2379"),
            "/multigres/shop/mini/z1",
        ),
    ],
    ids=["global server", "own server", "own server and root path", "external server"],
)
def test_a_cells_record_has_the_address_of_its_topology_server(
    cluster: ResolvedCluster, addresses: tuple[str, ...], root: str
) -> None:
    found = desired_records(cluster)
    assert decode_cell(found["/multigres/global/cells/z1/Cell"]) == ("z1", addresses, root)
    assert decode_cell(found["/multigres/global/cells/z2/Cell"]) == ("z2", (GLOBAL,), "/multigres/global")


def test_an_external_server_uses_its_own_secrets_and_is_not_waited_for() -> None:
    cluster = with_own_server({"external": EXTERNAL})
    assert cell_reference(cluster, cluster.cells[0]).ca_secret == "ca"
    assert [local_server_name(cluster, cell) for cell in cluster.cells] == ["", ""]


def test_every_pod_of_a_pool_is_expected() -> None:
    pods = expected_pods(resolved())
    assert len(pods) == 6
    assert all(pod.rpartition("-")[2] in ("0", "1", "2") for pod in pods)


def test_a_shard_without_a_known_primary_has_no_primary_cell() -> None:
    cluster = resolved()
    [shard] = primary_cells(cluster, [])
    assert shard.cell == ""
    assert primary_cells(cluster, [decode_pooler(encode_pooler("p", role=1))]) == [shard._replace(cell="z1")]


def test_the_cell_of_a_primary_is_one_of_the_cluster() -> None:
    """A record may hold any text: the server is not trusted."""
    foreign = decode_pooler(encode_pooler("p", role=1))._replace(cell="foreign")
    assert [primary.cell for primary in primary_cells(resolved(), [foreign])] == [""]


def test_cells_that_the_operator_does_not_register_have_no_desired_record() -> None:
    found = desired_records(resolved(topologyReconciliation={"registerCell": False}))
    assert set(found) == {"/multigres/global/databases/postgres/Database"}


TWO_POOLS = {
    "name": "postgres",
    "default": True,
    "tablegroups": [
        {
            "name": "default",
            "default": True,
            "shards": [
                {
                    "name": "0-inf",
                    "spec": {
                        "pools": {
                            "main": {"replicasPerCell": 2, "cells": ["z1"]},
                            "idle": {"replicasPerCell": 0, "cells": ["z2"]},
                        }
                    },
                }
            ],
        }
    ],
}
ELSEWHERE = {
    "name": "other",
    "tablegroups": [
        {
            "name": "default",
            "default": True,
            "shards": [{"name": "0-inf", "spec": {"pools": {"main": {"cells": ["z2"]}}}}],
        }
    ],
}


def test_the_record_of_a_database_has_the_cells_of_its_own_pools() -> None:
    cluster = resolved(databases=[TWO_POOLS, ELSEWHERE])
    assert database_cells(cluster, "postgres") == ("z1", "z2")
    assert database_cells(cluster, "other") == ("z2",)
    record = desired_records(cluster)["/multigres/global/databases/other/Database"]
    assert DecodedMessage.decode(record).texts(3) == ["z2"]


def test_as_many_pods_are_expected_as_each_pool_has_replicas() -> None:
    path = ShardPath("mini", "postgres", "default", "0-inf")
    main = names.pool(path, "main", "z1")
    assert expected_pods(resolved(databases=[TWO_POOLS])) == {f"{main}-0", f"{main}-1"}


def test_poolers_are_grouped_by_the_shard_that_they_name() -> None:
    cluster = resolved(databases=[TWO_POOLS, ELSEWHERE])
    mine = decode_pooler(encode_pooler("a"))
    shards = {
        database: names.shard(ShardPath("mini", database, "default", "0-inf"))
        for database in ("postgres", "other")
    }
    found = poolers_by_shard(cluster, [mine, mine._replace(database="foreign"), mine._replace(shard="1-2")])
    assert found == {shards["postgres"]: [mine], shards["other"]: []}


@pytest.mark.parametrize(
    ("server", "address", "root"),
    [
        (CellTopoServer(), None, None),
        (CellTopoServer(etcd=Etcd()), f"{OWN}.shop.svc:2379", "/multigres/z1"),
        (CellTopoServer(etcd=Etcd(root_path="/own")), f"{OWN}.shop.svc:2379", "/own"),
        (
            CellTopoServer(external=TopoReference(address="a:2379", root_path="/x", implementation="etcd")),
            "a:2379",
            "/x",
        ),
    ],
    ids=["global server", "own server", "own root path", "external server"],
)
def test_a_cell_that_exists_names_its_own_topology_server(
    server: CellTopoServer, address: str | None, root: str | None
) -> None:
    identity = ClusterIdentity("shop", "mini")
    found = existing_cell_reference(identity, CellSpec(name="z1", topo_server=server))
    assert (found and found.address, found and found.root_path) == (address, root)


def test_a_cell_waits_only_for_a_server_that_the_operator_runs_for_it() -> None:
    cluster = with_own_server({"etcd": {}})
    assert [local_server_name(cluster, cell) for cell in cluster.cells] == [OWN, ""]


def test_a_shard_without_replicas_has_no_servers() -> None:
    spec = {"pools": {"main": {"type": "readWrite", "replicasPerCell": 0}}}
    groups = [{"name": "default", "default": True, "shards": [{"name": "0-inf", "spec": spec}]}]
    stopped = resolved(databases=[{"name": "postgres", "default": True, "tablegroups": groups}])
    assert shards_with_servers(stopped) == set()
    assert shards_with_servers(resolved()) == {names.shard(ShardPath("mini", "postgres", "default", "0-inf"))}
