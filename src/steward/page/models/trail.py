"""The objects above an object, from the outermost one: what it belongs to. Pure."""

from __future__ import annotations

from steward.kube.objects.kinds import Key, Ref
from steward.page.inventory.inventory import REGISTRY, TENANT
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.structs import ObjectLink, object_link


def tenant_trail(snapshot: Snapshot, tenant: Ref) -> list[ObjectLink]:
    """The registry of a Tenant; nothing if the Tenant names none."""
    facts = snapshot.inventory.tenants.get(tenant.key) if tenant.kind == TENANT else None
    if facts is None or not facts.registry:
        return []
    return [object_link(Ref(REGISTRY, Key(tenant.key.namespace, facts.registry)))]
