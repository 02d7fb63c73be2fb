"""Records that a cluster needs in the topology server."""

from typing import Any

import msgspec
import pytest

from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.topology.desired_records import (
    cell_reference,
    desired_records,
    expected_pods,
    local_server_name,
    primary_cells,
)
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
