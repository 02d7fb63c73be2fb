"""The actions that the object of a view offers now. Pure."""

from __future__ import annotations

from datetime import datetime

from steward.multigres.cache_rules import CLUSTER
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.action import Action
from steward.page.models.addresses import ViewAddress, ViewKind
from steward.page.models.cluster_actions import cluster_actions
from steward.page.models.registry_actions import registry_actions, tenant_actions


def available_actions(snapshot: Snapshot, address: ViewAddress, now: datetime) -> list[Action]:
    match address.kind:
        case ViewKind.CLUSTER:
            found = snapshot.manifest(CLUSTER, address.key)
            return [] if found is None else list(cluster_actions(snapshot, found, now))
        case ViewKind.REGISTRY:
            return list(registry_actions(snapshot, address.key, now))
        case ViewKind.TENANT:
            return list(tenant_actions(snapshot, address.key))
        case _:
            return []
