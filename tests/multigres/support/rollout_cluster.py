"""A cluster whose pods are replaced and removed."""

from typing import Any

from steward.multigres import names
from steward.testkit.fake_data_plane.faults import ANNOTATION
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

    def apply_image(
        self, image: str, pools: dict[str, Any], shard: dict[str, Any] | None = None, **others: Any
    ) -> None:
        cells = [{"zone": zone} for zone in ("z1", "z2")]
        shards = [{"name": "0-inf", "spec": {"pools": pools, **(shard or {})}}]
        groups = [{"name": "default", "default": True, "shards": shards}]
        spec = {
            "cells": cells,
            "images": {"postgres": image},
            "databases": [{"name": "postgres", "default": True, "tablegroups": groups}],
            "globalTopoServer": {"etcd": {"replicas": 1}},
            "multiadmin": {"spec": {"replicas": 1}},
            "multiadminWeb": NO_ADMIN,
        }
        self.clusters.apply(cluster(self.namespace, self.name, **{**spec, **others}))

    @property
    def shard_name(self) -> str:
        return names.shard(names.ShardPath(self.name, "postgres", "default", "0-inf"))

    @property
    def shard(self) -> Any:
        return self.clusters.get("shard", self.shard_name)

    def annotate_shard(self, *annotations: str) -> None:
        self.kubectl("annotate", "--overwrite", "shard", self.shard_name, "-n", self.namespace, *annotations)

    def inject_server_faults(self, *words: str) -> None:
        """Faults of servers of the shard: `never-streams@POD`, or `postgres-down` for all."""
        self.annotate_shard(f"{ANNOTATION}={','.join(words)}")

    def clear_server_faults(self) -> None:
        self.annotate_shard(f"{ANNOTATION}-")

    def pool_of(self, pod: str) -> str:
        return str(self.servers()[pod]["metadata"]["labels"]["multigres.com/pool"])

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

    def make_primary(self, pod: str) -> None:
        """Ends the pod of each primary until this one leads. Elections choose the first name that is ready."""
        for _ in range(4):
            if (leader := self.wait_primary()) == pod:
                return
            self.kubectl("delete", "pod", leader, "-n", self.namespace)
            eventually(
                lambda leader=leader: self.primary() not in ("", leader), f"another than {leader} to lead"
            )
            eventually(self.servers_are_ready, "all servers to be ready")
        assert self.wait_primary() == pod

    def servers_are_ready(self) -> bool:
        servers = self.shard["status"].get("servers", [])
        return len(servers) > 1 and all(server["state"] == "Ready" for server in servers)

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
