"""Labels, owners and selectors: how Steward's objects say whose they are.

A user's label never takes the place of one of ours, and selectors use only labels that cannot change.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from steward.multigres.api.group import API_VERSION

Manifest = dict[str, Any]

MANAGED_BY = "app.kubernetes.io/managed-by"
FIELD_MANAGER = "multigres-operator"
FINALIZER = "multigres.com/cleanup"
STANDARD = {
    "app.kubernetes.io/name": "multigres",
    "app.kubernetes.io/part-of": "multigres",
    MANAGED_BY: FIELD_MANAGER,
}
COMPONENT = "app.kubernetes.io/component"
INSTANCE = "app.kubernetes.io/instance"
CLUSTER = "multigres.com/cluster"
CELL = "multigres.com/cell"
DATABASE = "multigres.com/database"
TABLE_GROUP = "multigres.com/tablegroup"
SHARD = "multigres.com/shard"
POOL = "multigres.com/pool"
TOPO_SERVER = "multigres.com/toposerver"
ZONE = "multigres.com/zone"
REGION = "multigres.com/region"
# What a selector may use: where an object stands. Zones can change under a cell's name.
SELECTING = (COMPONENT, INSTANCE, CLUSTER, CELL, DATABASE, TABLE_GROUP, SHARD, POOL, TOPO_SERVER)

NODE_ZONE = "topology.kubernetes.io/zone"
NODE_REGION = "topology.kubernetes.io/region"
NODE_NAME = "kubernetes.io/hostname"


class Owner(NamedTuple):
    """The custom resource that an object belongs to and goes with."""

    kind: str
    namespace: str
    name: str
    uid: str

    def reference(self) -> Manifest:
        return {
            "apiVersion": API_VERSION,
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


def labels(cluster: str, component: str, place: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**STANDARD, COMPONENT: component, INSTANCE: cluster, CLUSTER: cluster, **(place or {})}


def selector(of: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in of.items() if name in SELECTING}


def metadata(owner: Owner, name: str, own_labels: Mapping[str, str]) -> Manifest:
    return {
        "name": name,
        "namespace": owner.namespace,
        "labels": dict(own_labels),
        "ownerReferences": [owner.reference()],
    }


def node_selector(zone: str, region: str) -> dict[str, str]:
    if zone:
        return {NODE_ZONE: zone}
    return {NODE_REGION: region} if region else {}


def cell_place(cell: str, zone: str, region: str) -> dict[str, str]:
    place = {CELL: cell}
    if zone:
        place[ZONE] = zone
    if region:
        place[REGION] = region
    return place
