"""Manifests of clusters, registries and their children, for the tests of `tree`, `status` and `why`."""

from typing import Any

from steward.cli.inspect.object_health import MULTIGRES, TENANTS
from steward.kube.objects.kinds import Manifest

CLUSTER = "MultigresCluster/db"
THEN = "2027-01-15T07:57:00Z"  # three minutes before `NOW` of the tests
API = {
    "MultigresCluster": MULTIGRES,
    "Cell": MULTIGRES,
    "TableGroup": MULTIGRES,
    "Shard": MULTIGRES,
    "TenantRegistry": TENANTS,
    "Tenant": TENANTS,
    "TenantTemplate": TENANTS,
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "Pod": "v1",
    "PersistentVolumeClaim": "v1",
}


def tree_object(name: str, owner: str = "", **status: Any) -> Manifest:
    """The object `Kind/name`, owned by another."""
    kind, _, object_name = name.partition("/")
    references = [{"uid": owner, "controller": True, "kind": "", "name": ""}] if owner else []
    meta = {
        "name": object_name,
        "namespace": "shop",
        "uid": name,
        "ownerReferences": references,
        "generation": 1,
    }
    return {
        "apiVersion": API[kind],
        "kind": kind,
        "metadata": {**meta, "creationTimestamp": THEN},
        "status": {"observedGeneration": 1, **status},
    }


def condition(type_: str, status: str, message: str = "") -> dict[str, str]:
    return {"type": type_, "status": status, "message": message, "reason": "R", "lastTransitionTime": THEN}


READY = [condition("Ready", "True")]


def waiting(message: str) -> list[dict[str, str]]:
    return [condition("Ready", "False", message), condition("Reconciling", "True", message)]


def degraded(message: str) -> list[dict[str, str]]:
    return [condition("Ready", "False", message), condition("Degraded", "True", message)]
