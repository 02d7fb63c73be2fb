"""How a fleet that had a life may differ from a fresh one. Pure.

Tenants that the deletion guard holds, objects with the policy Retain, and the content of objects with the policy Once.
"""

import re
from typing import Any

from steward.tenants import labels
from tests.chaos.fleet_model import AUTOSCALED, ONCE, Manifest
from tests.chaos.snapshot import Snapshot, take_snapshot


def is_tracked(each: Manifest) -> bool:
    """Whether it belongs to a Tenant, or is one."""
    found = each["metadata"].get("labels") or {}
    return each["kind"] == "Tenant" or labels.TENANT in found


def held_tenants(live: list[Manifest], reference: list[Manifest]) -> set[str]:
    """Names of Tenants that a fresh fleet would not have."""
    return _tenants(live) - _tenants(reference)


def _tenants(objects: list[Manifest]) -> set[str]:
    return {each["metadata"]["name"] for each in objects if each["kind"] == "Tenant"}


def held_problems(live: list[Manifest], reference: list[Manifest]) -> list[str]:
    """Tenants without an active row exist only if the registry says that it holds exactly these."""
    extra = held_tenants(live, reference)
    [registry] = [each for each in live if each["kind"] == "TenantRegistry"]
    held = ((registry.get("status") or {}).get("heldDeletion") or {}).get("count", 0)
    if len(extra) == held:
        return []
    return [f"the registry holds the deletion of {held} Tenants, and these have no row: {sorted(extra)}"]


def held_approval(held: Manifest) -> str:
    """The approval that a held deletion of a registry or a template asks for."""
    conditions = (held.get("status") or {}).get("conditions") or ()
    messages = [
        each["message"] for each in conditions if each["type"] == "DeletionHeld" and each["status"] == "True"
    ]
    found = re.search(r'"(\d+-[0-9a-f]+)"', messages[0]) if messages else None
    return found[1] if found else ""


def comparable_fleets(
    live: list[Manifest], reference: list[Manifest], namespaces: tuple[str, str]
) -> tuple[Snapshot, Snapshot]:
    held = held_tenants(live, reference)
    kept = [each for each in live if not _is_of_tenant(each, held) and not _is_orphaned(each)]
    snapshots = take_snapshot(kept, namespaces[0]), take_snapshot(reference, namespaces[1])
    for snapshot in snapshots:
        for name, each in snapshot.items():
            _remove_history(name, each, has_held=bool(held))
    return snapshots


def _is_of_tenant(each: Manifest, tenants: set[str]) -> bool:
    if each["kind"] == "Tenant":
        return each["metadata"]["name"] in tenants
    owners = {owner["name"] for owner in each["metadata"].get("ownerReferences", ())}
    return (each["metadata"].get("labels") or {}).get(labels.TENANT) in tenants or bool(owners & tenants)


def _is_orphaned(each: Manifest) -> bool:
    return (each["metadata"].get("labels") or {}).get(labels.ORPHANED) == "true"


def _remove_history(name: str, each: dict[str, Any], has_held: bool) -> None:
    """What depends on the course of a life by design."""
    if name.startswith("ConfigMap/") and name.endswith(f"-{ONCE}"):
        each.pop("data", None)
    if name.startswith("Deployment/") and name.endswith(f"-{AUTOSCALED}"):
        each["spec"].pop("replicas", None)
        each.pop("status", None)
    if name.startswith("TenantTemplate/"):
        each.get("status", {}).pop("rollout", None)
    if name.startswith("TenantRegistry/") and has_held:
        each.pop("status", None)
    if name.startswith("TenantTemplate/") and has_held:
        each.pop("status", None)
