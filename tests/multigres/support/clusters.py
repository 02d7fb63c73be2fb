"""Manifests of MultigresClusters, and access to the clusters of one namespace."""

from typing import Any

from steward.kube.objects.kinds import Manifest
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl


def cluster(namespace: str, name: str = "mini", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"cells": [{"zone": "z1"}], **spec},
    }


class Clusters:
    """The clusters of one namespace, through kubectl."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace

    def apply(self, manifest: dict[str, Any]) -> None:
        self.kubectl("apply", "--server-side", "--field-manager=user", "-f", "-", document=manifest)

    def get(self, kind: str, name: str) -> Any:
        found = self.kubectl.json(
            "get", kind, "-n", self.namespace, "--field-selector", f"metadata.name={name}"
        )
        return found["items"][0] if found["items"] else None

    def all(self, kind: str) -> list[Any]:
        return self.kubectl.json("get", kind, "-n", self.namespace)["items"]  # type: ignore[no-any-return]

    def wait_ready(self, name: str = "mini") -> Any:
        """The cluster once it is ready, as `kubectl wait` decides it, without starting a process."""
        return eventually(
            lambda: (found := self.get("mgc", name)) and _is_ready(found) and found,
            f"MultigresCluster {name} to be ready",
            explain=lambda: str((self.get("mgc", name) or {}).get("status")),
        )


def _is_ready(found: Any) -> bool:
    """Whether its condition is about the current spec, and true."""
    generation = found["metadata"]["generation"]
    conditions = (found.get("status") or {}).get("conditions", [])
    ready = [each for each in conditions if each["type"] == "Ready" and each["status"] == "True"]
    return any(each.get("observedGeneration", generation) >= generation for each in ready)


def small_cluster(namespace: str, name: str, **spec: Any) -> Manifest:
    """A cluster with few pods. One server could not elect a primary."""
    pools = {"main": {"type": "readWrite", "replicasPerCell": 2, **spec.pop("pool", {})}}
    shard = {"name": "0-inf", "spec": {"pools": pools}}
    group = {"name": "default", "default": True, "shards": [shard]}
    database = {"name": "postgres", "default": True, "tablegroups": [group]}
    etcd = {"etcd": {"replicas": 1}}
    return cluster(namespace, name, **{"databases": [database], "globalTopoServer": etcd, **spec})


def conditions(kubectl: Kubectl, namespace: str, name: str) -> dict[str, Any]:
    found = kubectl.json("get", "mgc", name, "-n", namespace)
    return {each["type"]: each for each in found.get("status", {}).get("conditions", [])}
