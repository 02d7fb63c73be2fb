"""The start of a cluster ends when Kubernetes has scheduled all of its pods."""

import json
from typing import Any

import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import DEPLOYMENT, POD, STATEFUL_SET, Key, Kind
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TABLE_GROUP, TOPO_SERVER, MultigresCacheRules
from steward.multigres.controllers.cluster.pod_scheduling import PodScheduling
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.runtime.controller.start_limit import StartLimit
from steward.runtime.plan.write_slots import SATURATED
from steward.testkit.clock import FakeClock

RULES = MultigresCacheRules("")
MINI = Key("shop", "mini")
OTHER = Key("shop", "other")
TREE = [
    (CLUSTER, "mini", ""),
    (DEPLOYMENT, "multiadmin", "mini"),
    (TOPO_SERVER, "topo", "mini"),
    (STATEFUL_SET, "etcd", "topo"),
    (CELL, "z1", "mini"),
    (DEPLOYMENT, "gateway", "z1"),
    (TABLE_GROUP, "default", "mini"),
    (SHARD, "shard", "default"),
    (STATEFUL_SET, "pool", "shard"),
]
"""Kind, name and owner of the objects of a cluster; the name is the uid, too."""
SPECS: dict[Kind, dict[str, Any]] = {
    CELL: {
        "name": "z1",
        "globalTopoServer": {"address": "topo:2379", "rootPath": "/", "implementation": "etcd"},
    },
    TABLE_GROUP: {"databaseName": "postgres", "tableGroupName": "default"},
    SHARD: {"databaseName": "postgres", "tableGroupName": "default", "shardName": "0-inf"},
}
WORKLOADS = [name for kind, name, _ in TREE if kind in (DEPLOYMENT, STATEFUL_SET)]


class StartingCluster:
    """The caches of a cluster that has started, while another one waits. Each workload has two pods."""

    def __init__(self) -> None:
        rules = (
            *(RULES.cluster, RULES.topo_server, RULES.cell, RULES.table_group, RULES.shard),
            *(RULES.deployment, RULES.stateful_set, RULES.pod),
        )
        self.stores: dict[Kind, Store[Any]] = {rule.kind: Store(rule) for rule in rules}
        self.woken: list[Key] = []
        self.limit = StartLimit(FakeClock(), lambda: SATURATED, self.woken.append, at_once=1)
        self.stores[POD].add_label_index(CLUSTER_LABEL)
        self.stores[POD].subscribe(PodScheduling(self.stores.__getitem__, self.limit).observe_pod)
        assert [self.limit.start(key) for key in (MINI, OTHER)] == [True, False]

    def add(self, kind: Kind, name: str, owner: str, **fields: Any) -> None:
        reference = {"apiVersion": "v1", "kind": "X", "name": owner, "uid": owner, "controller": True}
        metadata = {
            "name": name,
            "namespace": MINI.namespace,
            "uid": name,
            "resourceVersion": "1",
            "labels": {"app.kubernetes.io/managed-by": "multigres-operator", CLUSTER_LABEL: MINI.name},
            "ownerReferences": [reference] if owner else [],
        }
        written = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}
        self.stores[kind].observe_write(json.dumps(written).encode())

    def add_tree(self, *left_out: str) -> None:
        for kind, name, owner in TREE:
            if name not in left_out:
                self.add(kind, name, owner, spec=SPECS.get(kind, {"replicas": 2}))

    def schedule(self, *workloads: str) -> None:
        for workload in workloads:
            for number in range(2):
                self.add_pod(f"{workload}-{number}", "True")

    def add_pod(self, name: str, scheduled: str) -> None:
        conditions = [{"type": "PodScheduled", "status": scheduled}]
        self.add(POD, name, "", status={"conditions": conditions})


@pytest.fixture
def cluster() -> StartingCluster:
    return StartingCluster()


def test_the_next_cluster_starts_when_the_last_pod_is_scheduled(cluster: StartingCluster) -> None:
    cluster.add_tree()
    cluster.schedule(*WORKLOADS[1:])
    cluster.add_pod(f"{WORKLOADS[0]}-0", "True")
    assert cluster.woken == []
    cluster.add_pod(f"{WORKLOADS[0]}-1", "True")
    assert cluster.woken == [OTHER]


def test_a_pod_without_a_node_keeps_the_start_from_ending(cluster: StartingCluster) -> None:
    cluster.add_tree()
    cluster.add_pod("pool-0", "False")
    cluster.schedule(*WORKLOADS[:-1])
    cluster.add_pod("pool-1", "True")
    assert cluster.woken == []


@pytest.mark.parametrize(
    ("missing", "workload"), [("gateway", "gateway"), ("z1", "gateway"), ("shard", "pool")]
)
def test_a_cluster_of_which_a_part_does_not_exist_yet_is_still_starting(
    cluster: StartingCluster, missing: str, workload: str
) -> None:
    cluster.add_tree(missing, workload)
    cluster.schedule(*(name for name in WORKLOADS if name != workload))
    assert cluster.woken == []


def test_a_pod_that_changes_later_ends_no_other_start(cluster: StartingCluster) -> None:
    cluster.add_tree()
    cluster.schedule(*WORKLOADS)
    assert cluster.limit.start(OTHER)
    cluster.add_pod("pool-2", "True")
    assert cluster.limit.is_started(OTHER)
