"""Cluster metrics, read from the stores at a scrape."""

import json
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Kind
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TOPO_SERVER, MultigresCacheRules
from steward.multigres.metrics import ClusterMetrics, MetricStores


class Stores:
    def __init__(self) -> None:
        rules = MultigresCacheRules("")
        used = (
            rules.cluster,
            rules.cell,
            rules.shard,
            rules.topo_server,
            rules.stateful_set,
            rules.deployment,
        )
        self._stores: dict[Kind, Store[Any]] = {rule.kind: Store(rule) for rule in used}

    def metric_stores(self) -> MetricStores:
        return MetricStores(*self._stores.values())

    def add(self, kind: Kind, name: str, version: int = 1, **more: Any) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version)}
        metadata |= {"labels": {"app.kubernetes.io/managed-by": "multigres-operator"}} | more.pop(
            "metadata", {}
        )
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **more}
        self._stores[kind].observe_write(json.dumps(manifest).encode())

    def forget(self, kind: Kind, name: str) -> None:
        self._stores[kind].observe_delete(Key("ns", name), f"uid-{name}")


@pytest.fixture
def stores() -> Stores:
    return Stores()


@pytest.fixture
def registry(stores: Stores) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(ClusterMetrics(stores.metric_stores()))
    return registry


def value(registry: CollectorRegistry, name: str, /, **labels: str) -> float | None:
    return registry.get_sample_value(f"multigres_operator_{name}", {"namespace": "ns", **labels})


def test_a_cluster_has_one_phase_series(stores: Stores, registry: CollectorRegistry) -> None:
    stores.add(CLUSTER, "demo", status={"phase": "Progressing"})
    assert value(registry, "cluster_info", name="demo", phase="Progressing") == 1
    stores.add(CLUSTER, "demo", version=2, status={"phase": "Healthy"})
    assert value(registry, "cluster_info", name="demo", phase="Healthy") == 1
    assert value(registry, "cluster_info", name="demo", phase="Progressing") is None


def test_a_cluster_without_a_status_is_initializing(stores: Stores, registry: CollectorRegistry) -> None:
    stores.add(CLUSTER, "demo")
    assert value(registry, "cluster_info", name="demo", phase="Initializing") == 1
    assert value(registry, "cluster_cells_total", cluster="demo") == 0


def test_cells_and_shards_are_counted_by_cluster(stores: Stores, registry: CollectorRegistry) -> None:
    databases = {"postgres": {"totalShards": 2}, "shop": {"totalShards": 3}}
    stores.add(CLUSTER, "demo", status={"cells": {"z1": {}, "z2": {}}, "databases": databases})
    assert value(registry, "cluster_cells_total", cluster="demo") == 2
    assert value(registry, "cluster_shards_total", cluster="demo") == 5


OURS = {"app.kubernetes.io/managed-by": "multigres-operator"}
CELL_SPEC = {"name": "z1", "globalTopoServer": {"address": "a", "rootPath": "/r", "implementation": "etcd"}}


def test_gateways_have_desired_and_ready_series(stores: Stores, registry: CollectorRegistry) -> None:
    spec = {**CELL_SPEC, "multiGateway": {"replicas": 3}}
    stores.add(CELL, "demo-z1", spec=spec)
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "Cell", "name": "demo-z1", "uid": "uid-demo-z1"}
    metadata = {"labels": OURS, "ownerReferences": [{**owner, "controller": True}]}
    stores.add(DEPLOYMENT, "gateways", metadata=metadata, status={"readyReplicas": 2})
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
    stores.add(SHARD, "s", spec=spec)
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "Shard", "name": "s", "uid": "uid-s"}
    for name, ready in (("a", 2), ("b", 1)):
        labels = {**OURS, "multigres.com/pool": "main"}
        metadata = {"labels": labels, "ownerReferences": [{**owner, "controller": True}]}
        stores.add(STATEFUL_SET, name, metadata=metadata, status={"readyReplicas": ready})
    assert value(registry, "shard_pool_replicas", shard="s", pool="main", state="desired") == 4
    assert value(registry, "shard_pool_replicas", shard="s", pool="main", state="ready") == 3
    assert value(registry, "shard_pool_replicas", shard="s", pool="spare", state="ready") == 0


def test_members_of_a_topology_server_have_series(stores: Stores, registry: CollectorRegistry) -> None:
    stores.add(TOPO_SERVER, "t", spec={"replicas": 5})
    stores.add(STATEFUL_SET, "t", status={"readyReplicas": 4})
    assert value(registry, "toposerver_replicas", name="t", state="desired") == 5
    assert value(registry, "toposerver_replicas", name="t", state="ready") == 4


def test_a_series_ends_with_its_object(stores: Stores, registry: CollectorRegistry) -> None:
    stores.add(CLUSTER, "demo", status={"phase": "Healthy"})
    stores.add(CELL, "demo-z1", spec=CELL_SPEC)
    stores.forget(CLUSTER, "demo")
    stores.forget(CELL, "demo-z1")
    samples = [sample for family in registry.collect() for sample in family.samples]
    assert samples == []


def test_a_cluster_that_waits_for_pods_of_a_new_operator_is_counted_with_the_reason(
    stores: Stores, registry: CollectorRegistry
) -> None:
    waiting = {"type": "OperatorUpdateAvailable", "status": "True", "reason": "WaitingForApproval"}
    condition = {**waiting, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    stores.add(CLUSTER, "demo", status={"conditions": [condition]})
    stores.add(CLUSTER, "other")
    assert value(registry, "cluster_operator_update", cluster="demo", reason="WaitingForApproval") == 1
    stores.add(CLUSTER, "demo", version=2, status={"conditions": []})
    assert value(registry, "cluster_operator_update", cluster="demo", reason="WaitingForApproval") is None


def test_the_servers_of_a_shard_are_counted_by_state(stores: Stores, registry: CollectorRegistry) -> None:
    since = "2026-01-01T00:00:00Z"
    servers = [
        {"pod": f"pg-{n}", "state": s, "since": since} for n, s in enumerate(("Ready", "Ready", "Down"))
    ]
    stores.add(SHARD, "s", spec={"shardName": "0-inf"}, status={"servers": servers})
    assert value(registry, "shard_servers", shard="s", state="Ready") == 2
    assert value(registry, "shard_servers", shard="s", state="Down") == 1
    assert value(registry, "shard_servers", shard="s", state="Unknown") is None


def test_conditions_of_a_shard_are_labels(stores: Stores, registry: CollectorRegistry) -> None:
    def condition(type_: str, status: str, reason: str) -> dict[str, str]:
        since = "2026-01-01T00:00:00Z"
        return {"type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": since}

    conditions = [condition("Available", "False", "NoPrimary"), condition("RollingUpdate", "False", "X")]
    stores.add(SHARD, "s", spec={"shardName": "0-inf"}, status={"conditions": conditions})
    known = {"shard": "s", "type": "Available", "reason": "NoPrimary"}
    assert value(registry, "shard_condition", **known, status="False") == 1
    assert value(registry, "shard_condition", **known, status="True") is None
    assert (
        value(registry, "shard_condition", shard="s", type="RollingUpdate", status="False", reason="X")
        is None
    )


def test_the_end_of_a_certificate_is_exposed(stores: Stores, registry: CollectorRegistry) -> None:
    status = {"backupCertificateExpiry": "2026-08-21T12:00:00Z"}
    stores.add(SHARD, "s", spec={"shardName": "0-inf"}, status=status)
    assert value(registry, "shard_certificate_expiry_timestamp_seconds", shard="s") == 1_787_313_600


def test_the_end_of_a_gateways_certificate_is_exposed(stores: Stores, registry: CollectorRegistry) -> None:
    stores.add(CLUSTER, "c", status={"gatewayCertificateExpiry": "2026-08-21T12:00:00Z"})
    stores.add(CLUSTER, "plain")
    name = "cluster_gateway_certificate_expiry_timestamp_seconds"
    assert value(registry, name, name="c") == 1_787_313_600
    assert value(registry, name, name="plain") is None


def test_time_and_size_of_the_last_backup_are_exposed(stores: Stores, registry: CollectorRegistry) -> None:
    status = {"backup": {"lastBackupAt": "2026-08-21T12:00:00Z", "lastBackupBytes": 7, "repositoryBytes": 3}}
    stores.add(SHARD, "s", spec={"shardName": "0-inf"}, status=status)
    stores.add(SHARD, "none", spec={"shardName": "0-inf"})
    assert value(registry, "shard_last_backup_timestamp_seconds", shard="s") == 1_787_313_600
    assert value(registry, "shard_last_backup_timestamp_seconds", shard="none") is None
    assert value(registry, "shard_last_backup_bytes", shard="s") == 7
    assert value(registry, "shard_last_backup_bytes", shard="none") is None
    assert value(registry, "shard_repository_bytes", shard="s") == 3
    assert value(registry, "shard_repository_bytes", shard="none") is None


def test_a_paused_cluster_has_the_time_of_its_pause(stores: Stores, registry: CollectorRegistry) -> None:
    since = "1970-01-01T00:01:40Z"
    paused = {
        "type": "Paused",
        "status": "True",
        "reason": "Paused",
        "message": "",
        "lastTransitionTime": since,
    }
    stores.add(CLUSTER, "demo", spec={"paused": True}, status={"conditions": [paused]})
    assert value(registry, "cluster_paused_since_seconds", cluster="demo") == 100.0
    stores.add(CLUSTER, "demo", version=2, spec={"paused": False}, status={"conditions": [paused]})
    assert value(registry, "cluster_paused_since_seconds", cluster="demo") is None
