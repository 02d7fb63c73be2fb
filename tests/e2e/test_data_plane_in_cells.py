"""A database cluster whose servers are in two cells, with a backup repository that both share.

Needs STEWARD_DATA_PLANE. The claims of the two cells are bound to volumes with the same directory, as a network file
system provides: servers of cells with a repository each start from data of their own and never elect a primary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from steward.multigres import names
from tests.e2e.support.database_cluster import DATABASE, GROUP, LITTLE, SHARD, DatabaseCluster
from tests.e2e.support.planned_changes import POOLS, Record, planned_change, start

LIFETIME_SECONDS = 10.0
"""Of the client's connections: shorter than the period for which gateways of a removed cell keep their clients."""
NODES = {"z1": "node-1", "z2": "node-2"}
TWO_CELLS = {
    "main": {"cells": ["z1"], "replicasPerCell": 2, "postgres": LITTLE},
    "other": {"cells": ["z2"], "replicasPerCell": 2, "postgres": LITTLE},
}


@pytest.fixture
def shared_repository(database_cluster: DatabaseCluster) -> Iterator[None]:
    kubectl, volumes = database_cluster.containers.kubectl, [volume(database_cluster, cell) for cell in NODES]
    for each in volumes:
        kubectl("apply", "-f", "-", document=each)
    yield
    for each in volumes:
        kubectl("delete", "pv", each["metadata"]["name"], "--wait=false")


def volume(database: DatabaseCluster, cell: str) -> dict[str, Any]:
    """For the claim that the operator makes for the repository of the cell."""
    directory = database.containers.directory / "volumes" / f"repository-{database.namespace}"
    directory.mkdir(exist_ok=True)
    path = names.ShardPath(database.name, DATABASE, GROUP, SHARD)
    hostname = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODES[cell]]}
    spec = {
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "standard",
        "local": {"path": str(directory)},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [hostname]}]}},
        "claimRef": {"namespace": database.namespace, "name": names.backup_claim(path, cell)},
    }
    metadata = {"name": f"repository-{database.namespace}-{cell}"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


async def test_removing_the_cell_of_the_primary_fails_no_write(
    database_cluster: DatabaseCluster, shared_repository: None, record_property: Record
) -> None:
    """The client renews its connection as pools do, so it leaves the gateways of the removed cell in time."""
    await start(database_cluster, TWO_CELLS, "z1", "z2")
    cell = database_cluster.label_of(database_cluster.primary(), "multigres.com/cell")
    async with planned_change(database_cluster, record_property, LIFETIME_SECONDS):
        remove_cell(database_cluster, cell)
    left = [pod["metadata"]["labels"]["multigres.com/cell"] for pod in database_cluster.pods()]
    assert len(left) == 2
    assert cell not in left


def remove_cell(database: DatabaseCluster, cell: str) -> None:
    index, pool = {"z1": (0, "main"), "z2": (1, "other")}[cell]
    database.patch(
        [{"op": "remove", "path": f"/spec/cells/{index}"}, {"op": "remove", "path": f"{POOLS}/{pool}"}]
    )
