"""The desired state of a cluster's life: edits change it, manifests follow from it. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from steward.local.kwok.pods import POD
from steward.multigres.api.group import API_VERSION
from tests.chaos.story import Edit

Manifest = dict[str, Any]

NAME = "shop"
TEMPLATE = "standard"
SETTINGS = "postgres-settings"
MAIN = "main"
FIRST_ZONE = "z1"


@dataclass
class ClusterModel:
    cells: dict[str, int] = field(default_factory=lambda: {FIRST_ZONE: 1})
    groups: dict[str, int] = field(default_factory=dict)
    pools: dict[str, Manifest] = field(
        default_factory=lambda: {MAIN: {"type": "readWrite", "replicasPerCell": 2}}
    )
    gigabytes: int = 1
    retention: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    log_levels: dict[str, str] = field(default_factory=dict)
    gateway_failure: str = ""
    """How gateways fail (local/kwok/pods.py); they start if it is empty."""
    pod_annotations: dict[str, str] = field(default_factory=dict)
    local_topology: set[str] = field(default_factory=set)
    admins: int = 1
    """Without multiadmin nothing is known about servers, and none is replaced or removed."""
    is_external: bool = False
    uses_template: bool = False
    postgres_settings: str = ""
    durability: str = "AT_LEAST_2"
    updates: str = "Auto"
    """When changes of templates are applied; the user sets it to Auto at the end."""
    bucket: str = ""
    """Of backups in an object store; they are on volumes if it is empty."""
    is_broken: bool = False
    """The cluster names a template that does not exist; the user repairs it at the end."""
    topology_endpoint: str = ""
    """Of an external topology server; the operator runs one if it is empty."""
    ever_deletes_claims: bool = False

    def apply(self, edit: Edit) -> None:
        _EDITS[edit.field](self, edit.key, edit.value)

    @property
    def can_be_ready(self) -> bool:
        return not self.topology_endpoint and not self.gateway_failure

    def manifests(self, namespace: str) -> list[Manifest]:
        """The cluster and what it refers to, in the order in which a user applies them."""
        settings = _manifest("v1", "ConfigMap", namespace, SETTINGS)
        settings["data"] = {"postgresql.conf": self.postgres_settings}
        template = _manifest(API_VERSION, "ShardTemplate", namespace, TEMPLATE)
        template["spec"] = self._shard()
        cluster = _manifest(API_VERSION, "MultigresCluster", namespace, NAME)
        cluster["spec"] = self.spec()
        return [settings, template, cluster]

    def spec(self) -> Manifest:
        replicas = {"spec": {"replicas": self.admins}}
        spec: Manifest = {
            "cells": [self._cell(zone) for zone in sorted(self.cells)],
            "databases": [{"name": "postgres", "default": True, "tablegroups": self._groups()}],
            "globalTopoServer": self._topology(),
            "multiadmin": replicas,
            "multiadminWeb": replicas,
            "durabilityPolicy": self.durability,
            "updatePolicy": {"templateChanges": self.updates},
        }
        optional = {
            "pvcDeletionPolicy": self.retention,
            "backup": {"type": "s3", "s3": {"bucket": self.bucket, "region": "local"}} if self.bucket else {},
            "images": self.images,
            "logLevels": self.log_levels,
            "externalGateway": {"enabled": True} if self.is_external else {},
        }
        broken: Manifest = {"multiadmin": {"templateRef": "missing"}} if self.is_broken else {}
        return spec | broken | {name: value for name, value in optional.items() if value}

    def _topology(self) -> Manifest:
        if self.topology_endpoint:
            return {"external": {"endpoints": [self.topology_endpoint]}}
        return {"etcd": {"replicas": 1}}

    def _cell(self, zone: str) -> Manifest:
        gateway: Manifest = {"replicas": self.cells[zone]}
        annotations = self.pod_annotations | ({POD: self.gateway_failure} if self.gateway_failure else {})
        if annotations:
            gateway["podAnnotations"] = annotations
        inline: Manifest = {"multiGateway": gateway}
        if zone in self.local_topology:
            inline["localTopoServer"] = {"etcd": {"replicas": 1}}
        return {"zone": zone, "spec": inline}

    def _groups(self) -> list[Manifest]:
        first = {"name": "default", "default": True, "shards": [self._entry("0-inf")]}
        others = [
            {"name": name, "shards": [self._entry(f"part{number}") for number in range(count)]}
            for name, count in sorted(self.groups.items())
        ]
        return [first, *others]

    def _entry(self, name: str) -> Manifest:
        return {"name": name} | (
            {"shardTemplate": TEMPLATE} if self.uses_template else {"spec": self._shard()}
        )

    def _shard(self) -> Manifest:
        storage = {"storage": {"size": f"{self.gigabytes}Gi"}}
        shard: Manifest = {"pools": {name: {**pool, **storage} for name, pool in self.pools.items()}}
        if self.postgres_settings:
            shard["postgresConfigRef"] = {"name": SETTINGS, "key": "postgresql.conf"}
        return shard


def _manifest(api_version: str, kind: str, namespace: str, name: str) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}


def _set_or_remove(entries: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        entries.pop(key, None)
    else:
        entries[key] = value


def _edit_cell(model: ClusterModel, zone: str, replicas: int | None) -> None:
    # A cluster has at least one cell.
    if replicas is not None or set(model.cells) - {zone}:
        _set_or_remove(model.cells, zone, replicas)


def _edit_pool(model: ClusterModel, name: str, pool: Manifest | None) -> None:
    # One pool can always hold the primary.
    if name != MAIN or pool is not None:
        _set_or_remove(model.pools, name, pool)


def _edit_size(model: ClusterModel, _: str, gigabytes: int) -> None:
    # Volumes never shrink.
    model.gigabytes = max(model.gigabytes, gigabytes)


def _edit_retention(model: ClusterModel, key: str, policy: str | None) -> None:
    model.ever_deletes_claims |= policy == "Delete"
    _set_or_remove(model.retention, key, policy)


def _edit_local_topology(model: ClusterModel, zone: str, value: bool | None) -> None:
    if value:
        model.local_topology.add(zone)
    else:
        model.local_topology.discard(zone)


def _entry_editor(name: str) -> Callable[[ClusterModel, str, Any], None]:
    return lambda model, key, value: _set_or_remove(getattr(model, name), key, value)


def _value_editor(name: str) -> Callable[[ClusterModel, str, Any], None]:
    return lambda model, _, value: setattr(model, name, value)


_EDITS: dict[str, Callable[[ClusterModel, str, Any], None]] = {
    "cell": _edit_cell,
    "pool": _edit_pool,
    "size": _edit_size,
    "retention": _edit_retention,
    "localTopology": _edit_local_topology,
    "group": _entry_editor("groups"),
    "image": _entry_editor("images"),
    "logLevel": _entry_editor("log_levels"),
    "podAnnotation": _entry_editor("pod_annotations"),
    "updates": _value_editor("updates"),
    "bucket": _value_editor("bucket"),
    "broken": _value_editor("is_broken"),
    "gatewayFailure": _value_editor("gateway_failure"),
    "admins": _value_editor("admins"),
    "external": _value_editor("is_external"),
    "template": _value_editor("uses_template"),
    "postgresSettings": _value_editor("postgres_settings"),
    "durability": _value_editor("durability"),
}
FIELDS = frozenset(_EDITS)
