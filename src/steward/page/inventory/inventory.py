"""The objects that a workspace watches, reduced to what the views need. Does no I/O.

Of most objects only a `TreeObject` is kept. Of the kinds that a view shows in detail the JSON is kept as bytes, without
managedFields: as dicts the same objects would take five times as much memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from steward.cli.commands.backups import BACKUP
from steward.cli.inspect.object_tree import KINDS, REGISTRY_LABEL, TreeObject, tree_object
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD, SHARD_TEMPLATE
from steward.multigres.objects.metadata import CLUSTER_LABEL

TENANT: Final = Kind("operator.kubernetes-tenants.org/v1", "Tenant")
REGISTRY: Final = Kind("operator.kubernetes-tenants.org/v1", "TenantRegistry")
TEMPLATE: Final = Kind("operator.kubernetes-tenants.org/v1", "TenantTemplate")
CLUSTER_TEMPLATES: Final = (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE)
DETAIL_ONLY: Final = (BACKUP, kinds.CONTROLLER_REVISION, *CLUSTER_TEMPLATES)
"""Kinds that are in no tree."""
_WHOLE: Final = (CLUSTER, SHARD, REGISTRY, TEMPLATE, *DETAIL_ONLY)
_STORAGE: Final = (kinds.PERSISTENT_VOLUME_CLAIM, kinds.POD, kinds.STATEFUL_SET)
"""Kinds of which `volume_claims` reads a part, if they belong to a cluster."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.encode


class TenantFacts(NamedTuple):
    uid: str
    ready: int
    desired: int
    version: str
    is_paused: bool = False
    registry: str = ""


class Inventory:
    def __init__(self) -> None:
        self.objects: dict[Ref, TreeObject] = {}
        self.tenants: dict[Key, TenantFacts] = {}
        self._bodies: dict[Kind, dict[Key, bytes]] = {}

    def add_object(self, kind: Kind, body: bytes) -> None:
        manifest = {**_decode(body), "apiVersion": kind.api_version, "kind": kind.kind}
        ref = Ref(
            kind, Key(sys.intern(manifest["metadata"].get("namespace", "")), manifest["metadata"]["name"])
        )
        if kind in KINDS:
            self.objects[ref] = tree_object(manifest)._replace(ref=ref)
        if kind == TENANT:
            self.tenants[ref.key] = _tenant_facts(manifest)
        if (kept := _kept_part(kind, manifest)) is not None:
            self._bodies.setdefault(kind, {})[ref.key] = _encode(kept)

    def remove(self, ref: Ref) -> None:
        self.objects.pop(ref, None)
        self.tenants.pop(ref.key, None) if ref.kind == TENANT else None
        self._bodies.get(ref.kind, {}).pop(ref.key, None)

    def manifest(self, kind: Kind, key: Key) -> Manifest | None:
        body = self._bodies.get(kind, {}).get(key)
        return None if body is None else _decode(body)

    def manifests(self, kind: Kind, namespace: str = "") -> Iterator[Manifest]:
        """Of all namespaces if none is named."""
        for key, body in self._bodies.get(kind, {}).items():
            if namespace in ("", key.namespace):
                yield _decode(body)

    def bodies(self, kind: Kind, namespace: str) -> Iterator[bytes]:
        return (body for key, body in self._bodies.get(kind, {}).items() if key.namespace == namespace)


def _tenant_facts(manifest: Manifest) -> TenantFacts:
    status = manifest.get("status") or {}
    return TenantFacts(
        str(manifest["spec"].get("uid", "")),
        int(status.get("readyResources") or 0),
        int(status.get("desiredResources") or 0),
        str(manifest["metadata"].get("resourceVersion", "")),
        bool(manifest["spec"].get("paused")),
        sys.intern(str((manifest["metadata"].get("labels") or {}).get(REGISTRY_LABEL, ""))),
    )


def _kept_part(kind: Kind, manifest: Manifest) -> Manifest | None:
    """What the views show of an object besides its health; None if that is nothing."""
    if kind in _WHOLE:
        return {**manifest, "metadata": _without_managed_fields(manifest)}
    labels = manifest["metadata"].get("labels") or {}
    if kind not in _STORAGE or CLUSTER_LABEL not in labels:
        return None
    spec = manifest.get("spec") or {}
    if kind == kinds.POD:
        kept = {"volumes": [each for each in spec.get("volumes") or () if "persistentVolumeClaim" in each]}
    else:
        kept = {name: value for name, value in spec.items() if name != "template"}
    return {
        **manifest,
        "metadata": _without_managed_fields(manifest),
        "spec": kept,
        "status": _storage_status(manifest),
    }


def _without_managed_fields(manifest: Manifest) -> dict[str, Any]:
    return {name: value for name, value in manifest["metadata"].items() if name != "managedFields"}


def _storage_status(manifest: Manifest) -> dict[str, Any]:
    status = manifest.get("status") or {}
    return {name: status[name] for name in ("phase", "capacity") if name in status}
