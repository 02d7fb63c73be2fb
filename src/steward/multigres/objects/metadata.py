"""Labels, owner references and selectors of all objects that the operator creates.

Labels of users never replace labels of the operator, and selectors only use labels that cannot change.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from steward.multigres.api.group import API_VERSION

Manifest = dict[str, Any]

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
FIELD_MANAGER = "multigres-operator"
FINALIZER = "multigres.com/cleanup"
GO_FINALIZERS = (
    "multigres.com/cluster-cleanup",
    "multigres.com/shard-pvc-orphan",
    "cell.data-handler.multigres.com/finalizer",
    "shard.data-handler.multigres.com/finalizer",
)
"""Finalizers of the Go operator. On an object that it has made they are replaced by `FINALIZER`."""
STANDARD_LABELS = {
    "app.kubernetes.io/name": "multigres",
    "app.kubernetes.io/part-of": "multigres",
    MANAGED_BY_LABEL: FIELD_MANAGER,
}
COMPONENT_LABEL = "app.kubernetes.io/component"
INSTANCE_LABEL = "app.kubernetes.io/instance"
CLUSTER_LABEL = "multigres.com/cluster"
CELL_LABEL = "multigres.com/cell"
DATABASE_LABEL = "multigres.com/database"
TABLE_GROUP_LABEL = "multigres.com/tablegroup"
SHARD_LABEL = "multigres.com/shard"
POOL_LABEL = "multigres.com/pool"
ROLE_LABEL = "multigres.com/role"
ACCEPTS_CLIENTS_LABEL = "multigres.com/accepts-clients"
TOPO_SERVER_LABEL = "multigres.com/toposerver"
ZONE_LABEL = "multigres.com/zone"
REGION_LABEL = "multigres.com/region"
# Labels for selectors: those that identify an object. A cell can move to another zone under the same name.
SELECTOR_LABELS = (
    COMPONENT_LABEL,
    INSTANCE_LABEL,
    CLUSTER_LABEL,
    CELL_LABEL,
    DATABASE_LABEL,
    TABLE_GROUP_LABEL,
    SHARD_LABEL,
    POOL_LABEL,
    TOPO_SERVER_LABEL,
)

NODE_ZONE_LABEL = "topology.kubernetes.io/zone"
NODE_REGION_LABEL = "topology.kubernetes.io/region"
HOSTNAME_LABEL = "kubernetes.io/hostname"


class Owner(NamedTuple):
    """The custom resource that owns an object: the garbage collector deletes the object with it."""

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


def component_labels(
    cluster: str, component: str, location: Mapping[str, str] | None = None
) -> dict[str, str]:
    return {
        **STANDARD_LABELS,
        COMPONENT_LABEL: component,
        INSTANCE_LABEL: cluster,
        CLUSTER_LABEL: cluster,
        **(location or {}),
    }


def selector(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in labels.items() if name in SELECTOR_LABELS}


def metadata(owner: Owner, name: str, labels: Mapping[str, str]) -> Manifest:
    return {
        "name": name,
        "namespace": owner.namespace,
        "labels": dict(labels),
        "ownerReferences": [owner.reference()],
    }


def node_selector(zone: str, region: str) -> dict[str, str]:
    if zone:
        return {NODE_ZONE_LABEL: zone}
    return {NODE_REGION_LABEL: region} if region else {}


def cell_location_labels(cell: str, zone: str, region: str) -> dict[str, str]:
    labels = {CELL_LABEL: cell}
    if zone:
        labels[ZONE_LABEL] = zone
    if region:
        labels[REGION_LABEL] = region
    return labels
