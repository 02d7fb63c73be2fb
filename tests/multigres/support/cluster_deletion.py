"""A cluster that is deleted, and the order in which the operator deletes its parts."""

import json
from collections.abc import Callable
from typing import Any

from steward.kube.objects.kinds import Manifest
from steward.testkit import AuditLog, LogPosition
from tests.multigres.support.clusters import cluster
from tests.multigres.support.toposerver_objects import TopoServerObjects
from tests.multigres.support.waiting import eventually, run_async

KINDS = (
    "mgc,cell,tablegroup,shard,toposerver,deployment,statefulset,service,secret,configmap,poddisruptionbudget"
)
SMALL = {"pools": {"default": {"replicasPerCell": 2}}}
PASSWORD = "Secret/mini-postgres-password"
SHORT_PERIODS = {"default_graceful_shutdown_period": "1s"}


def databases(*more: str, policy: str = "Retain") -> list[dict[str, Any]]:
    """Two servers per shard: one could not elect a primary. `more` are additional table groups."""
    spec = {**SMALL, "pvcDeletionPolicy": {"whenDeleted": policy, "whenScaled": policy}}
    shards = [{"name": "0-inf", "spec": spec}]
    groups: list[dict[str, Any]] = [{"name": "default", "default": True, "shards": shards}]
    groups += [{"name": name, "shards": shards} for name in more]
    return [{"name": "postgres", "default": True, "tablegroups": groups}]


def two_server_cluster(namespace: str, **spec: Any) -> dict[str, Any]:
    etcd = {"etcd": {"replicas": 1}}
    return cluster(namespace, **{"databases": databases(), "globalTopoServer": etcd, **spec})


class DeletedCluster(TopoServerObjects):
    def remaining_objects(self) -> list[str]:
        """All objects of the cluster that still exist, except volume claims."""
        found = self.kubectl.json("get", KINDS, "-n", self.namespace)["items"]
        names = [f"{item['kind']}/{item['metadata']['name']}" for item in found]
        return [name for name in names if "kube-root-ca" not in name]

    def wait_deleted(self, *but: str) -> None:
        self.wait_gone("mgc", "mini")
        eventually(lambda: self.remaining_objects() == list(but), f"everything to go but {but}")

    def claims(self) -> list[str]:
        return sorted(claim["metadata"]["name"] for claim in self.all("pvc"))

    def remove_owner_references(self) -> None:
        """Does what the garbage collector does for `--cascade=orphan`; it leaves no other trace."""
        owner = self.get("mgc", "mini")["metadata"]["uid"]
        for each in self.kubectl.json("get", KINDS, "-n", self.namespace)["items"]:
            owners = each["metadata"].get("ownerReferences", [])
            if [one["uid"] for one in owners] == [owner]:
                name = f"{each['kind']}/{each['metadata']['name']}"
                no_owners = '{"metadata":{"ownerReferences":null}}'
                self.kubectl("patch", name, "-n", self.namespace, "--type=merge", "-p", no_owners)

    def wait_orphaned(self, cell: Manifest) -> None:
        """The cluster is gone, and its cell is unchanged, without an owner."""
        self.wait_gone("mgc", "mini")
        [orphan] = self.all("cell")
        assert orphan["metadata"]["uid"] == cell["metadata"]["uid"]
        assert "deletionTimestamp" not in orphan["metadata"]
        assert not orphan["metadata"].get("ownerReferences")

    def set_finalizers(self, kind: str, name: str, finalizers: list[str]) -> None:
        patch = json.dumps({"metadata": {"finalizers": finalizers}})
        self.kubectl("patch", kind, name, "-n", self.namespace, "--type=merge", "-p", patch)

    def delete_cluster(self, *options: str) -> None:
        self.kubectl("delete", "mgc", "mini", "-n", self.namespace, "--wait=false", *options)


def deletion_order(audit: AuditLog, mark: LogPosition, namespace: str, part: str = "") -> list[str]:
    """The order in which the operator scaled workloads with `part` in their name to zero, and deleted children.

    The last write to a workload scales it to zero; before that the operator may annotate it and wait.
    """
    calls = [item.call for item in run_async(audit.calls_since(mark)) if item.code < 300]
    ours = [call for call in calls if call.namespace == namespace and "multigres-operator" in call.user_agent]
    moments: dict[str, None] = {}
    for call in ours:
        if call.verb == "patch" and call.resource in WORKLOADS and part in call.name:
            scaled = f"scale {WORKLOADS[call.resource](call.name)}"
            moments.pop(scaled, None)
            moments[scaled] = None
        elif call.verb == "delete" and call.resource in CHILDREN:
            moments[f"delete {call.resource}"] = None
    return list(moments)


DEPLOYMENTS = {"multigateway": "gateway", "-repository-": "repository"}
CHILDREN = ("cells", "tablegroups", "toposervers")
WORKLOADS: dict[str, Callable[[str], str]] = {
    "deployments": lambda name: next(
        (role for part, role in DEPLOYMENTS.items() if part in name), "orchestrator"
    ),
    "statefulsets": lambda name: "etcd" if "topo" in name else "pool",
}
