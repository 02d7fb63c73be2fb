"""A cluster whose pods are replaced and removed."""

from typing import Any

from steward.multigres import names
from tests.multigres.support.clusters import cluster
from tests.multigres.support.topology_cluster import TopologyCluster
from tests.multigres.support.waiting import eventually

NO_ADMIN = {"spec": {"replicas": 0}}
TWO_POOLS = {
    "main": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]},
    "side": {"type": "readWrite", "replicasPerCell": 1, "cells": ["z2"]},
}
GOOD, BETTER, BAD = "example.com/pgctld:1", "example.com/pgctld:2", "example.com/pgctld:bad"


class RolloutCluster(TopologyCluster):
    """One cluster whose pods are replaced and removed."""

    def apply_image(self, image: str, pools: dict[str, Any]) -> None:
        cells = [{"zone": zone} for zone in ("z1", "z2")]
        shards = [{"name": "0-inf", "spec": {"pools": pools}}]
        groups = [{"name": "default", "default": True, "shards": shards}]
        spec = {
            "cells": cells,
            "images": {"postgres": image},
            "databases": [{"name": "postgres", "default": True, "tablegroups": groups}],
            "globalTopoServer": {"etcd": {"replicas": 1}},
            "multiadmin": NO_ADMIN,
            "multiadminWeb": NO_ADMIN,
        }
        self.clusters.apply(cluster(self.namespace, self.name, **spec))

    @property
    def shard(self) -> Any:
        return self.clusters.get(
            "shard", names.shard(names.ShardPath(self.name, "postgres", "default", "0-inf"))
        )

    def shard_condition(self, type_: str) -> Any:
        conditions = ((self.shard or {}).get("status") or {}).get("conditions", [])
        return next((c for c in conditions if c["type"] == type_), None)

    def wait_shard_condition(self, type_: str, reason: str) -> Any:
        return eventually(
            lambda: (found := self.shard_condition(type_)) and found["reason"] == reason and found,
            f"{type_} {reason}",
        )

    def servers(self) -> dict[str, Any]:
        label = f"multigres.com/cluster={self.name},app.kubernetes.io/component=shard-pool"
        found = self.kubectl.json("get", "pod", "-n", self.namespace, "-l", label)["items"]
        return {pod["metadata"]["name"]: pod for pod in found}

    def images(self) -> list[str]:
        return sorted(pod["spec"]["initContainers"][0]["image"] for pod in self.servers().values())

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.servers().items()}

    def primary(self) -> str:
        leading = [pooler for pooler in self.poolers() if pooler.is_primary and pooler.lifecycle == 2]
        return leading[0].name if len(leading) == 1 else ""

    def set_shutdown_period(self, period: str) -> None:
        """Sets the graceful shutdown period of the cluster."""
        period = f"multigres.com/graceful-shutdown-period={period}"
        self.kubectl("annotate", "--overwrite", "mgc", self.name, "-n", self.namespace, period)

    def wait_updated(self, image: str, servers: int) -> None:
        eventually(lambda: self.images() == [image] * servers, f"every pod of {self.name} to run {image}")
        self.wait_shard_condition("RollingUpdate", "PodsUpToDate")
        generation = self.clusters.get("mgc", self.name)["metadata"]["generation"]
        eventually(lambda: self._is_ready(generation), f"{self.name} to be ready")

    def _is_ready(self, generation: int) -> bool:
        status = self.clusters.get("mgc", self.name).get("status") or {}
        ready = [c for c in status.get("conditions", []) if c["type"] == "Ready"]
        return status.get("observedGeneration") == generation and bool(ready) and ready[0]["status"] == "True"

    def wait_primary(self) -> str:
        eventually(self.primary, f"a primary of {self.name}")
        return self.primary()
