"""A TopoServer and its dependents, created without a cluster."""

from collections.abc import Mapping
from typing import Any

from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.support.clusters import Clusters
from tests.multigres.support.waiting import eventually

API = "multigres.com/v1alpha1"
TOPO = {"address": "my-etcd:2379", "rootPath": "/multigres/global", "implementation": "etcd"}


class TopoServerObjects(Clusters):
    """A topology server and its dependents, created without a cluster."""

    def make(self, kind: str, name: str, /, **spec: Any) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        self.apply({"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec})

    def server(self, name: str = "my-etcd") -> None:
        self.make("TopoServer", name, replicas=1)
        eventually(lambda: self.has_finalizer("toposerver", name), "the server to be held")

    def gateway(self, name: str, replicas: int = 1, pods: Mapping[str, str] | None = None) -> None:
        self.make(
            "Cell",
            name,
            name=name,
            globalTopoServer=TOPO,
            topoServerRef={"name": "my-etcd"},
            multiGateway={"replicas": replicas, "podAnnotations": dict(pods or {})},
        )
        eventually(lambda: self.has_finalizer("cell", name), "the cell to be held")

    def shard(self, orchestrators: Mapping[str, str]) -> str:
        """Named like a Shard of a cluster: the names of its pods are derived from it."""
        path = ShardPath("mine", "postgres", "default", "0-inf")
        name = names.shard(path)
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {"multigres.com/cluster": path.cluster},
        }
        spec = {
            "databaseName": path.database,
            "tableGroupName": path.table_group,
            "shardName": path.shard,
            "globalTopoServer": TOPO,
            "multiorch": {"cells": ["z1"], "replicas": 1, "podAnnotations": dict(orchestrators)},
            "pools": {"main": {"cells": ["z1"], "replicasPerCell": 1}},
        }
        self.apply({"apiVersion": API, "kind": "Shard", "metadata": metadata, "spec": spec})
        eventually(lambda: self.has_finalizer("shard", name), "the shard to be held")
        return name

    def has_finalizer(self, kind: str, name: str) -> bool:
        found = self.get(kind, name)
        return found is not None and "multigres.com/cleanup" in found["metadata"].get("finalizers", [])

    def delete(self, kind: str, name: str) -> None:
        self.kubectl("delete", kind, name, "-n", self.namespace, "--wait=false")

    def annotate(self, kind: str, name: str, annotation: str) -> None:
        self.kubectl("annotate", kind, name, "-n", self.namespace, annotation)

    def condition(self, type_: str, kind: str = "toposerver", name: str = "my-etcd") -> Any:
        found = self.get(kind, name) or {}
        known = (found.get("status") or {}).get("conditions", [])
        return next((c for c in known if c["type"] == type_), None)

    def wait_blocked(self, message: str) -> Any:
        def blocked() -> Any:
            found = self.condition("DeletionBlocked")
            return found if found is not None and message in found["message"] else None

        return eventually(blocked, f"the deletion to be blocked: {message}")

    def wait_gone(self, kind: str, name: str) -> None:
        eventually(lambda: self.get(kind, name) is None, f"{kind} {name} to go")

    def events(self, reason: str) -> list[str]:
        found = self.kubectl.json("get", "events.events.k8s.io", "-n", self.namespace)["items"]
        return [event["note"] for event in found if event["reason"] == reason]

    def wait_event(self, reason: str, text: str) -> None:
        eventually(lambda: any(text in note for note in self.events(reason)), f"event {reason}: {text}")
