"""Objects of a cluster and of a registry with Tenants, in the states that the views show."""

from __future__ import annotations

import time
from typing import Any

from steward.cli.commands.backups import BACKUP
from steward.kube.objects.kinds import CONTROLLER_REVISION, Kind, Manifest
from steward.multigres.cache_rules import CLUSTER, SHARD, SHARD_TEMPLATE
from steward.multigres.template_updates.revisions import COMPONENT
from steward.page.inventory.inventory import REGISTRY, TEMPLATE, TENANT

MANAGED = {"app.kubernetes.io/managed-by": "multigres-operator", "multigres.com/cluster": "db"}
CELLS = ("zone-a", "zone-b", "zone-c")


def ago(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds))


def condition(type_: str, status: str, message: str = "", reason: str = "Reconciled") -> dict[str, Any]:
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": ago(600),
    }


READY = [condition("Ready", "True", reason="Reconciled")]


def manifest(kind: Kind, name: str, owner: str = "", **parts: Any) -> Manifest:
    """`owner` is the uid of the controller; uids are `Kind/name`."""
    owners = [{"uid": owner, "controller": True, "kind": "", "name": "", "apiVersion": ""}] if owner else []
    meta = {
        "name": name,
        "namespace": "shop",
        "uid": f"{kind.kind}/{name}",
        "generation": 1,
        "resourceVersion": "1",
        "creationTimestamp": ago(86400),
        "ownerReferences": owners,
        "labels": parts.pop("labels", {}),
        "annotations": parts.pop("annotations", {}),
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": {}, **parts}


def status(conditions: list[dict[str, Any]] = READY, **parts: Any) -> dict[str, Any]:
    return {"observedGeneration": 1, "conditions": conditions, **parts}


def cluster(name: str = "db", **parts: Any) -> Manifest:
    cells = {cell: {"ready": True} for cell in CELLS}
    endpoint = {
        "endpoint": f"{name}-multigateway.shop.svc:5432",
        "connectionSecret": f"{name}-connection",
        "gatewayServiceName": f"{name}-multigateway",
    }
    valid = condition("GatewayCertificateReady", "True", "gateways have a valid certificate")
    ends = {"gatewayCertificateExpiry": ago(-80 * 86400)}
    whole = status([*READY, valid], cells=cells, phase="Ready", **ends, **endpoint)
    spec = {"cells": [], "gatewayTls": {"enabled": True}}
    return manifest(CLUSTER, name, **{"spec": spec, "status": whole, **parts})


def server(pod: str, cell: str, state: str = "Ready", role: str = "Standby") -> dict[str, Any]:
    return {"pod": pod, "cell": cell, "pool": "main", "state": state, "role": role, "since": ago(3600)}


def shard(name: str, servers: list[dict[str, Any]], message: str = "") -> Manifest:
    primary = next((each["pod"] for each in servers if each["role"] == "Primary"), "")
    pools = {"main": {"type": "readWrite", "cells": list(CELLS), "replicasPerCell": 1}}
    spec = {"databaseName": "postgres", "tableGroupName": "default", "shardName": name, "pools": pools}
    backup = {"lastBackupAt": ago(7200), "backups": 5, "nextBackupAt": ago(-7200), "verifiedAt": ago(90000)}
    is_ready = all(each["state"] == "Ready" for each in servers)
    ready = READY if is_ready else [condition("Ready", "False", "server db-1 does not stream")]
    valid = condition("BackupCertificatesReady", "True", "the backup service has valid certificates")
    ends = {"backupCertificateExpiry": ago(-300 * 86400)}
    whole = status([*ready, valid], primary=primary, servers=servers, backup=backup, **ends, message=message)
    owner = "MultigresCluster/db"
    return manifest(SHARD, f"db-postgres-default-{name}", owner, labels=MANAGED, spec=spec, status=whole)


def shards() -> list[Manifest]:
    roles = ("Primary", "Standby", "Standby")
    return [
        shard(
            name,
            [
                server(f"db-postgres-default-{name}-main-{cell}-0", cell, role=role)
                for cell, role in zip(CELLS, roles, strict=True)
            ],
        )
        for name in ("0-8", "8-inf")
    ]


def claims() -> list[Manifest]:
    return [
        manifest(
            Kind("v1", "PersistentVolumeClaim"),
            f"pgdata-{cell}-{number}",
            "Shard/db-postgres-default-0-8",
            labels=MANAGED,
            spec={"resources": {"requests": {"storage": "10Gi"}}},
            status={"phase": "Bound", "capacity": {"storage": "10Gi" if cell != "zone-b" else "5Gi"}},
        )
        for cell in CELLS
        for number in range(1)
    ]


def backup(name: str = "nightly") -> Manifest:
    done = {"phase": "Completed", "type": "full", "stoppedAt": ago(7200)}
    return manifest(BACKUP, name, spec={"cluster": "db"}, status=done)


def revision(spec: dict[str, Any]) -> Manifest:
    """The content of the ShardTemplate `standard` that the cluster uses."""
    content = {"kind": "ShardTemplate", "name": "standard", "uid": "ShardTemplate/standard", "generation": 1}
    made = manifest(CONTROLLER_REVISION, "db-standard-1", "MultigresCluster/db")
    made["metadata"]["labels"] = {"app.kubernetes.io/component": COMPONENT}
    return {**made, "revision": 1, "data": {**content, "spec": spec}}


def waiting_update(phase: str = "Ready") -> list[Manifest]:
    """The cluster while a change of its ShardTemplate waits: the cluster, the template, and the active revision."""
    waits = "ShardTemplate standard generation 2 waits, because the update policy is Manual"
    update = condition("TemplateUpdateAvailable", "True", waits, "UpdateWaiting")
    changed, made = cluster(), manifest(SHARD_TEMPLATE, "standard", spec={"multiorch": {"replicas": 3}})
    changed["status"] |= {
        "conditions": [*_ready_conditions(changed, phase), update],
        "phase": phase,
        "appliedTemplateGenerations": {"ShardTemplate/standard": 1},
    }
    made["metadata"]["generation"] = 2
    return [changed, made, revision({"multiorch": {"replicas": 1}})]


def _ready_conditions(cluster: Manifest, phase: str) -> list[dict[str, Any]]:
    _, *others = cluster["status"]["conditions"]
    if phase == "Ready":
        return [*READY, *others]
    return [condition("Ready", "False", "one shard is not ready", "WaitingForComponents"), *others]


def registry(name: str = "customers", **parts: Any) -> Manifest:
    source = {
        "type": "postgresql",
        "syncInterval": "30s",
        "postgresql": {"host": "crm-db.internal", "port": 5432, "database": "crm", "table": "customers"},
    }
    counts = {
        "activeRows": 12,
        "inactiveRows": 3,
        "lastSyncDuration": "0.04s",
        "desired": 24,
        "ready": 23,
        "failed": 0,
        "lastSyncTime": ago(12),
    }
    conditions = [*READY, condition("SourceReachable", "True", reason="SourceRead")]
    return manifest(
        REGISTRY, name, **{"spec": {"source": source}, "status": status(conditions, **counts), **parts}
    )


def held_registry(count: int = 12, **parts: Any) -> Manifest:
    held = {
        "count": count,
        "digest": "0f3c",
        "reason": "EmptyResult",
        "sample": ["acme-web", "birch-web", "cedar-web"],
        "approveWith": f"{count}-0f3c",
    }
    message = (
        f"the table has no active row, and {count} Tenants would be deleted: restore the rows, or approve it with "
        f"the annotation kubernetes-tenants.org/approve-deletion: {count}-0f3c"
    )
    conditions = [
        condition("Ready", "False", message),
        condition("DeletionHeld", "True", message, "EmptyResult"),
        condition("SourceReachable", "True", reason="SourceRead"),
    ]
    return registry(status=status(conditions, heldDeletion=held, lastSyncTime=ago(5)), **parts)


def template(name: str, registry: str = "customers", **rollout: Any) -> Manifest:
    spec = {"registryId": registry, "rollout": {"maxSkew": 2}}
    idle = {"phase": "Complete", "totalNodes": 12, "updatedNodes": 12, "updatingNodes": 0}
    conditions = [condition("Valid", "True"), condition("Applied", "True"), *READY]
    whole = status(conditions, totalTenants=12, readyTenants=12, rollout={**idle, **rollout})
    return manifest(TEMPLATE, name, spec=spec, status=whole)


def config_map(name: str, *depends: str) -> dict[str, Any]:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"plan": "gold"}}
    return {"id": name, "spec": body, "dependIds": list(depends)}


def tenant(uid: str, template: str = "web", **parts: Any) -> Manifest:
    name = f"{uid}-{template}"
    deployment = {
        "id": "app",
        "dependIds": ["settings"],
        "deletionPolicy": "Retain",
        "spec": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"{name}-app"}},
    }
    settings = {**config_map("settings"), "spec": {**config_map(f"{name}-settings")["spec"]}}
    spec = {
        "uid": uid,
        "templateRef": template,
        "templateGeneration": 3,
        "configMaps": [settings],
        "deployments": [deployment],
    }
    applied = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "namespace": "shop",
            "name": f"{name}-settings",
            "id": "settings",
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "namespace": "shop",
            "name": f"{name}-app",
            "id": "app",
        },
    ]
    whole = status(readyResources=2, desiredResources=2, applied=applied)
    labels = {"kubernetes-tenants.org/registry": "customers"}
    return manifest(TENANT, name, **{"labels": labels, "spec": spec, "status": whole, **parts})


def deployment(tenant_name: str, ready: int = 2) -> Manifest:
    return manifest(
        Kind("apps/v1", "Deployment"),
        f"{tenant_name}-app",
        f"Tenant/{tenant_name}",
        labels={
            "kubernetes-tenants.org/tenant": tenant_name,
            "kubernetes-tenants.org/tenant-namespace": "shop",
        },
        spec={"replicas": 2, "selector": {"matchLabels": {}}},
        status={
            "observedGeneration": 1,
            "replicas": 2,
            "updatedReplicas": 2,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "conditions": [
                {
                    "type": "Available",
                    "status": "True" if ready == 2 else "False",
                    "lastTransitionTime": ago(300),
                }
            ],
        },
    )


def event(name: str, about: tuple[str, str], reason: str, note: str, type_: str = "Normal") -> Manifest:
    kind, named = about
    made = manifest(Kind("events.k8s.io/v1", "Event"), name)
    return {
        **made,
        "type": type_,
        "reason": reason,
        "note": note,
        "eventTime": ago(120),
        "regarding": {"kind": kind, "namespace": "shop", "name": named},
    }


UIDS = (
    "acme",
    "birch",
    "cedar",
    "dune",
    "elm",
    "fjord",
    "grove",
    "harbor",
    "iris",
    "juniper",
    "kite",
    "lumen",
)


def sample() -> list[Manifest]:
    """A healthy cluster and registry with twelve customers and two templates."""
    tenants = [tenant(uid, name) for uid in UIDS for name in ("web", "db")]
    return [
        cluster(),
        *shards(),
        *claims(),
        backup(),
        manifest(SHARD_TEMPLATE, "standard", spec={"pools": {}}),
        registry(),
        template("web"),
        template(
            "db", phase="InProgress", updatedNodes=6, updatingNodes=2, message="6 of 12 Tenants are updated"
        ),
        *tenants,
        *(deployment(each["metadata"]["name"]) for each in tenants),
        event("one", ("Shard", "db-postgres-default-0-8"), "PrimarySwitched", "the primary is now in zone-a"),
        event(
            "two", ("Tenant", "acme-web"), "DriftReverted", "spec.replicas of Deployment acme-web-app was 5"
        ),
    ]
