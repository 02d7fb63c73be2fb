"""A small cluster and its volumes."""

from typing import Any

from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.support.clusters import Clusters, cluster
from tests.multigres.support.waiting import eventually

DELETE = {"whenDeleted": "Delete", "whenScaled": "Delete"}
NO_ADMIN, ONE_ADMIN = {"spec": {"replicas": 0}}, {"spec": {"replicas": 1}}


class VolumeCluster:
    """One small cluster and its volumes."""

    def __init__(self, clusters: Clusters, name: str) -> None:
        self.clusters = clusters
        self.name = name
        self.path = ShardPath(name, "postgres", "default", "0-inf")
        self.shard = names.shard(self.path)
        self.pool = names.pool(self.path, "default", "z1")
        self.server = names.global_topo(name)

    def apply(self, pool: dict[str, Any], **spec: Any) -> None:
        pools = {"default": {"type": "readWrite", "replicasPerCell": 2, **pool}}
        shards = [{"name": "0-inf", "spec": {"pools": pools}}]
        groups = [{"name": "default", "default": True, "shards": shards}]
        databases = [{"name": "postgres", "default": True, "tablegroups": groups}]
        desired = {"databases": databases, "globalTopoServer": topo_server(), **spec}
        small = {"multiadmin": ONE_ADMIN, "multiadminWeb": NO_ADMIN}
        self.clusters.apply(cluster(self.clusters.namespace, self.name, **small, **desired))

    def wait_ready(self) -> None:
        generation = self.clusters.get("mgc", self.name)["metadata"]["generation"]
        eventually(lambda: self.is_ready(generation), f"{self.name} to be ready")

    def is_ready(self, generation: int) -> bool:
        status = self.clusters.get("mgc", self.name).get("status") or {}
        ready = [c for c in status.get("conditions", []) if c["type"] == "Ready"]
        return status.get("observedGeneration") == generation and bool(ready) and ready[0]["status"] == "True"

    def annotate(self, *annotations: str) -> None:
        self.clusters.kubectl(
            "annotate", "mgc", self.name, "-n", self.clusters.namespace, "--overwrite", *annotations
        )

    def stateful_set(self, name: str) -> Any:
        return self.clusters.get("statefulset", name)

    def is_recreated(self, name: str, before: str) -> bool:
        found = self.stateful_set(name)
        return found is not None and found["metadata"]["uid"] != before

    def has_policy(self, name: str, policy: dict[str, str]) -> bool:
        found = self.stateful_set(name)
        return found is not None and found["spec"]["persistentVolumeClaimRetentionPolicy"] == policy

    def claims(self, of: str) -> dict[str, Any]:
        found = self.clusters.all("pvc")
        return {
            c["metadata"]["name"]: c for c in found if c["metadata"]["name"].rpartition("-")[0].endswith(of)
        }

    def sizes(self, of: str) -> set[tuple[str, str]]:
        return {
            (claim["spec"]["resources"]["requests"]["storage"], claim["status"]["capacity"]["storage"])
            for claim in self.claims(of).values()
            if "capacity" in claim["status"]
        }

    def uids(self, kind: str) -> dict[str, str]:
        """UIDs of the cluster's pods or claims, by name."""
        label = f"multigres.com/cluster={self.name}"
        found = self.clusters.kubectl.json("get", kind, "-n", self.clusters.namespace, "-l", label)["items"]
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}

    def condition(self, kind: str, name: str, type_: str = "VolumesReady") -> Any:
        status = (self.clusters.get(kind, name) or {}).get("status") or {}
        found = [c for c in status.get("conditions", []) if c["type"] == type_]
        return found[0] if found else {"status": "", "reason": "", "message": ""}

    def retained(self) -> list[str]:
        shard = self.clusters.get("shard", self.shard)
        return (shard.get("status") or {}).get("retainedClaims", [])  # type: ignore[no-any-return]


def topo_server(size: str = "1Gi", **more: Any) -> dict[str, Any]:
    return {"etcd": {"replicas": 1, "storage": {"size": size}}, **more}


def with_storage(size: str, **more: Any) -> dict[str, Any]:
    return {"storage": {"size": size, **more}}
