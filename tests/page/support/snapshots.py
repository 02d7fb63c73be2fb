"""Snapshots of objects, without an API server."""

from __future__ import annotations

import json

from steward.kube.objects.kinds import Manifest, kind_of
from steward.page.inventory.inventory import Inventory
from steward.page.inventory.snapshot import Snapshot, take_snapshot


def inventory_of(*manifests: Manifest) -> Inventory:
    inventory = Inventory()
    for manifest in manifests:
        inventory.add_object(kind_of(manifest), json.dumps(manifest).encode())
    return inventory


def snapshot_of(*manifests: Manifest) -> Snapshot:
    return take_snapshot(inventory_of(*manifests), 1)
