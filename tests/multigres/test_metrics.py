"""What the operator shows of clusters, read from stores as a scrape would."""

import json
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Kind
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TOPO_SERVER, Rules
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.metrics import ClusterFigures


class Stores:
    """As much of the ground as figures stand on."""

    def __init__(self) -> None:
        self.rules = Rules("")
        self._stores: dict[Kind, Store[Any]] = {}

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        return self._stores.setdefault(rule.kind, Store(rule))

    def put(self, kind: Kind, name: str, version: int = 1, **more: Any) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version)}
        metadata |= {"labels": {"app.kubernetes.io/managed-by": "multigres-operator"}} | more.pop(
            "metadata", {}
        )
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **more}
        self._stores[kind].observe(json.dumps(manifest).encode())

    def forget(self, kind: Kind, name: str) -> None:
        self._stores[kind].forget(Key("ns", name), f"uid-{name}")


@pytest.fixture
def stores() -> Stores:
    return Stores()


@pytest.fixture
def registry(stores: Stores) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(ClusterFigures(cast(ControllerContext, stores)))
    return registry


def value(registry: CollectorRegistry, name: str, /, **labels: str) -> float | None:
    return registry.get_sample_value(f"multigres_operator_{name}", {"namespace": "ns", **labels})


def test_a_cluster_shows_one_phase_and_the_old_one_goes(stores: Stores, registry: CollectorRegistry) -> None:
    stores.put(CLUSTER, "demo", status={"phase": "Progressing"})
    assert value(registry, "cluster_info", name="demo", phase="Progressing") == 1
    stores.put(CLUSTER, "demo", version=2, status={"phase": "Healthy"})
    assert value(registry, "cluster_info", name="demo", phase="Healthy") == 1
    assert value(registry, "cluster_info", name="demo", phase="Progressing") is None


def test_a_cluster_that_says_nothing_yet_is_shown_as_beginning(
    stores: Stores, registry: CollectorRegistry
) -> None:
    stores.put(CLUSTER, "demo")
    assert value(registry, "cluster_info", name="demo", phase="Initializing") == 1
    assert value(registry, "cluster_cells_total", cluster="demo") == 0


def test_cells_and_shards_are_counted_by_cluster(stores: Stores, registry: CollectorRegistry) -> None:
    databases = {"postgres": {"totalShards": 2}, "shop": {"totalShards": 3}}
    stores.put(CLUSTER, "demo", status={"cells": {"z1": {}, "z2": {}}, "databases": databases})
    assert value(registry, "cluster_cells_total", cluster="demo") == 2
    assert value(registry, "cluster_shards_total", cluster="demo") == 5


OURS = {"app.kubernetes.io/managed-by": "multigres-operator"}
CELL_SPEC = {"name": "z1", "globalTopoServer": {"address": "a", "rootPath": "/r", "implementation": "etcd"}}


def test_gateways_are_shown_as_asked_for_and_as_ready(stores: Stores, registry: CollectorRegistry) -> None:
    spec = {**CELL_SPEC, "multiGateway": {"replicas": 3}}
    stores.put(CELL, "demo-z1", spec=spec)
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "Cell", "name": "demo-z1", "uid": "uid-demo-z1"}
    metadata = {"labels": OURS, "ownerReferences": [{**owner, "controller": True}]}
    stores.put(DEPLOYMENT, "gateways", metadata=metadata, status={"readyReplicas": 2})
    assert value(registry, "cell_gateway_replicas", cell="demo-z1", state="desired") == 3
    assert value(registry, "cell_gateway_replicas", cell="demo-z1", state="ready") == 2


def test_servers_of_a_pool_are_summed_over_its_cells(stores: Stores, registry: CollectorRegistry) -> None:
    pool = {"cells": ["z1", "z2"], "replicasPerCell": 2}
    spec = {
        "databaseName": "postgres",
        "tableGroupName": "default",
        "shardName": "0-inf",
        "globalTopoServer": CELL_SPEC["globalTopoServer"],
        "pools": {"main": pool, "spare": {"cells": ["z1"], "replicasPerCell": 1}},
    }
    stores.put(SHARD, "s", spec=spec)
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "Shard", "name": "s", "uid": "uid-s"}
    for name, ready in (("a", 2), ("b", 1)):
        labels = {**OURS, "multigres.com/pool": "main"}
        metadata = {"labels": labels, "ownerReferences": [{**owner, "controller": True}]}
        stores.put(STATEFUL_SET, name, metadata=metadata, status={"readyReplicas": ready})
    assert value(registry, "shard_pool_replicas", shard="s", pool="main", state="desired") == 4
    assert value(registry, "shard_pool_replicas", shard="s", pool="main", state="ready") == 3
    assert value(registry, "shard_pool_replicas", shard="s", pool="spare", state="ready") == 0


def test_members_of_a_topology_server_are_shown(stores: Stores, registry: CollectorRegistry) -> None:
    stores.put(TOPO_SERVER, "t", spec={"replicas": 5})
    stores.put(STATEFUL_SET, "t", status={"readyReplicas": 4})
    assert value(registry, "toposerver_replicas", name="t", state="desired") == 5
    assert value(registry, "toposerver_replicas", name="t", state="ready") == 4


def test_a_series_ends_with_its_object(stores: Stores, registry: CollectorRegistry) -> None:
    stores.put(CLUSTER, "demo", status={"phase": "Healthy"})
    stores.put(CELL, "demo-z1", spec=CELL_SPEC)
    stores.forget(CLUSTER, "demo")
    stores.forget(CELL, "demo-z1")
    samples = [sample for family in registry.collect() for sample in family.samples]
    assert samples == []
