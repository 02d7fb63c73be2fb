"""Manifests of MultigresClusters, and access to the clusters of one namespace."""

from typing import Any

from steward.kube.objects.kinds import Manifest
from tests.multigres.support.waiting import LIMIT_SECONDS
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
        self.kubectl(
            "wait",
            "mgc",
            name,
            "-n",
            self.namespace,
            "--for=condition=Ready",
            f"--timeout={LIMIT_SECONDS:.0f}s",
        )
        return self.get("mgc", name)


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
