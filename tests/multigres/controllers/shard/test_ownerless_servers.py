"""Servers of a Shard that lost their StatefulSet: which of them end, and with what."""

import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import STATEFUL_SET, Key, Kind, Manifest, Ref
from steward.multigres import names
from steward.multigres.cache_rules import CLUSTER, TABLE_GROUP, MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.shard.deletion import ShardDeletion
from steward.multigres.controllers.shard.ownerless_servers import OwnerlessServers
from steward.multigres.deletion.annotations import STARTED, GraceSettings
from steward.multigres.deletion.draining import unknown_connections
from steward.multigres.names import ShardPath
from steward.multigres.objects import pool
from steward.multigres.objects.metadata import FINALIZER
from steward.multigres.views import PodView, ShardView
from steward.runtime.plan.steps import Delete, Patch
from steward.testkit import FakeClock

PATH = ShardPath("mini", "postgres", "default", "0-inf")
SET = names.pool(PATH, "main", "z1")
LABELS = {
    "app.kubernetes.io/managed-by": "multigres-operator",
    "app.kubernetes.io/component": pool.COMPONENT,
    "multigres.com/cluster": PATH.cluster,
    "multigres.com/database": PATH.database,
    "multigres.com/tablegroup": PATH.table_group,
    "multigres.com/shard": PATH.shard,
    "multigres.com/cell": "z1",
    "multigres.com/pool": "main",
}
DELETE = {"whenDeleted": "Delete", "whenScaled": "Delete"}
POOLS = {"main": {"cells": ["z1"], "replicasPerCell": 1, "pvcDeletionPolicy": DELETE}}
SHARD = msgspec.convert(
    {
        "metadata": {"name": names.shard(PATH), "namespace": "shop", "labels": LABELS},
        "spec": {
            "shardName": PATH.shard,
            "databaseName": PATH.database,
            "tableGroupName": PATH.table_group,
            "pools": POOLS,
        },
    },
    ShardView,
)


TIME = "2027-01-15T08:00:00Z"
TERMINATING = {"deletion_timestamp": TIME, "finalizers": (FINALIZER,), "annotations": {STARTED: TIME}}


def pod(name: str = f"{SET}-0", **metadata: Any) -> PodView:
    found = {"name": name, "namespace": "shop", "uid": "u", "resourceVersion": "7", "labels": LABELS}
    return msgspec.convert({"metadata": {**found, **metadata}}, PodView)


class Servers:
    def __init__(self) -> None:
        self.stores: dict[Kind, Store[Any]] = {}
        context = SimpleNamespace(
            rules=MultigresCacheRules(""),
            store=lambda rule: self.stores.setdefault(rule.kind, Store(rule)),
            grace=GraceSettings(),
            clock=FakeClock(),
            connections=unknown_connections,
            now=lambda: TIME,
        )
        self.ownerless = OwnerlessServers(cast(MultigresContext, context))
        self.deletion = ShardDeletion(cast(MultigresContext, context))

    def add(self, kind: Kind, name: str, **fields: Any) -> None:
        metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "1", "labels": LABELS}
        body: Manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}
        self.stores[kind].observe_write(json.dumps(body).encode())

    def desire_shard(self) -> None:
        self.add(CLUSTER, PATH.cluster, spec={})
        spec = {"databaseName": PATH.database, "tableGroupName": PATH.table_group}
        group = names.table_group(PATH.cluster, PATH.database, PATH.table_group)
        self.add(TABLE_GROUP, group, spec={**spec, "shards": [{"name": PATH.shard}]})


@pytest.fixture
def servers() -> Servers:
    return Servers()


def test_a_server_without_a_set_ends_with_its_shard(servers: Servers) -> None:
    assert servers.ownerless.pods(SHARD, [pod()], pool.COMPONENT) == [pod()]


async def test_a_shard_waits_for_a_server_without_a_set_before_it_goes(servers: Servers) -> None:
    metadata = msgspec.structs.replace(SHARD.metadata, **TERMINATING)
    plan = await servers.deletion.plan_deletion(msgspec.structs.replace(SHARD, metadata=metadata), [pod()])
    assert [step.ref.key.name for step in plan if isinstance(step, Delete)] == [f"{SET}-0"]
    finalizers = [step for step in plan if isinstance(step, Patch) and "finalizers" in str(step.patch)]
    assert finalizers == []


def test_a_shard_that_is_still_desired_keeps_its_servers_for_its_successor(servers: Servers) -> None:
    servers.desire_shard()
    assert servers.ownerless.pods(SHARD, [pod()], pool.COMPONENT) == []
    assert servers.ownerless.claim_deletions(SHARD, []) == ()


def test_a_set_without_a_controller_ends_with_a_shard_that_its_cluster_does_not_desire(
    servers: Servers,
) -> None:
    servers.add(STATEFUL_SET, SET)
    assert servers.ownerless.workloads(SHARD, STATEFUL_SET) == [], "without a cluster it may be meant to stay"
    servers.add(CLUSTER, PATH.cluster, spec={})
    [found] = servers.ownerless.workloads(SHARD, STATEFUL_SET)
    assert found.metadata.name == SET
    servers.desire_shard()
    assert servers.ownerless.workloads(SHARD, STATEFUL_SET) == [], "its successor takes it over"


def test_servers_of_a_pool_that_is_no_longer_desired_end_if_their_set_is_gone(servers: Servers) -> None:
    [found] = servers.ownerless.undesired_pools([pod()], [])
    [delete] = found.delete_steps()
    assert isinstance(delete, Delete)
    assert (delete.ref.key.name, delete.uid, delete.resource_version) == (f"{SET}-0", "u", "7")


@pytest.mark.parametrize(
    "kept",
    [
        pod("mine-0"),
        pod(ownerReferences=[{"kind": "StatefulSet", "name": SET, "uid": "s", "controller": True}]),
        pod(labels={**LABELS, "app.kubernetes.io/managed-by": "Helm"}),
    ],
    ids=["another name", "with a controller", "of another manager"],
)
def test_other_pods_stay(servers: Servers, kept: PodView) -> None:
    assert servers.ownerless.undesired_pools([kept], []) == []
    assert servers.ownerless.pods(SHARD, [kept], pool.COMPONENT) == []


def test_servers_of_a_desired_pool_wait_for_their_new_set(servers: Servers) -> None:
    desired = [Ref(STATEFUL_SET, Key("shop", SET))]
    assert servers.ownerless.undesired_pools([pod()], desired) == []
