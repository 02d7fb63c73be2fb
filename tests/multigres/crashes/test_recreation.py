"""A Shard that is deleted while the operator recreates its StatefulSet leaves no pod and no volume behind.

The operator stops after each write of the recreation, each time in another namespace. The Shard is deleted then, and
the next operators stop at every write to what the recreation has left without an owner.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.support.clusters import Clusters
from tests.multigres.support.crash_runs import crash_after_write, crash_at_every_write, run_until
from tests.multigres.support.operator import remove_finalizers
from tests.multigres.support.toposerver_objects import API, TOPO
from tests.multigres.support.volume_cluster import DELETE
from tests.multigres.support.waiting import eventually, run_async
from tests.support import namespaces
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

pytestmark = CRASH_MARKS
FAST = {"default_graceful_shutdown_period": "1s"}
PATH = ShardPath("mine", "postgres", "default", "0-inf")
SHARD, POOL = names.shard(PATH), names.pool(PATH, "main", "z1")
WRITES = {1: "foreground", 2: "background", 3: "foreground"}
"""The claim grows, the set gives up its claims, the set is deleted without its pod; and how the Shard is deleted."""
LEFT_BEHIND = r"/(pods|persistentvolumeclaims)/"


class GrowingShard(Clusters):
    """A Shard without a cluster."""

    def apply_size(self, size: str) -> None:
        metadata: dict[str, Any] = {"name": SHARD, "namespace": self.namespace}
        metadata["labels"] = {"multigres.com/cluster": PATH.cluster}
        pool = {"cells": ["z1"], "replicasPerCell": 1, "storage": {"size": size}, "pvcDeletionPolicy": DELETE}
        spec = {
            "databaseName": PATH.database,
            "tableGroupName": PATH.table_group,
            "shardName": PATH.shard,
            "globalTopoServer": TOPO,
            "multiorch": {"cells": ["z1"], "replicas": 0},
            "pools": {"main": pool},
            "backup": {"type": "s3", "s3": {"bucket": "b", "region": "r"}},
        }
        self.apply({"apiVersion": API, "kind": "Shard", "metadata": metadata, "spec": spec})

    def is_ready(self) -> bool:
        """Whether its pod is: without a cluster no data plane reports on its Postgres."""
        return [(each.get("status") or {}).get("readyReplicas") for each in self.all("statefulset")] == [1]

    def has_lost_set(self) -> bool:
        [pod] = self.all("pod")
        return self.get("statefulset", POOL) is None and "ownerReferences" not in pod["metadata"]

    def delete(self, cascade: str) -> None:
        self.kubectl("delete", "shard", SHARD, "-n", self.namespace, f"--cascade={cascade}", "--wait=false")

    def is_gone(self) -> bool:
        return not any(self.all(kind) for kind in ("shard", "statefulset", "pod", "pvc"))


@pytest.fixture
def shards(kubectl: Kubectl) -> Iterator[dict[int, GrowingShard]]:
    found = {write: namespaces.create_namespace(kubectl.server) for write in WRITES}
    yield {write: GrowingShard(kubectl, name) for write, name in found.items()}
    for name in found.values():
        remove_finalizers(kubectl, name)
        namespaces.release_namespace(kubectl.server, name)


def test_a_shard_deleted_while_its_set_is_recreated_leaves_nothing(
    control_plane: ControlPlane, shards: dict[int, GrowingShard]
) -> None:
    for shard in shards.values():
        shard.apply_size("1Gi")
    everywhere = ",".join(shard.namespace for shard in shards.values())
    run_async(
        run_until(control_plane, everywhere, lambda: all(s.is_ready() for s in shards.values()), **FAST)
    )
    for write, shard in shards.items():
        shard.apply_size("2Gi")
        run_async(crash_after_write(control_plane, shard.namespace, write, **FAST))
    eventually(shards[3].has_lost_set, "the garbage collector to release the pod")
    for write, shard in shards.items():
        shard.delete(WRITES[write])
    for shard in shards.values():
        run_async(
            crash_at_every_write(control_plane, shard.namespace, shard.is_gone, changes=LEFT_BEHIND, **FAST)
        )
