"""Asks the operator to read the table of a registry now. The decisions are pure.

The request is an annotation with a new value; the status has the value of the last read. Reading cannot delete more
than the next regular read would: the deletion guard decides about both.
"""

from __future__ import annotations

from datetime import datetime

from steward.cli.operations.outcome import FIELD_MANAGER, RequestError, condition
from steward.cli.operations.spec_switches import check_changeable, check_not_paused
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.tenants.labels import SYNC_REQUEST

GUARD_NOTE = "The deletion guard applies as at every read"


def request_value(now: datetime) -> str:
    return f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"


def sync_patch(ref: Ref, found: Manifest, value: str) -> MergePatch:
    """Raises if the operator would not read the table of this registry."""
    check_changeable(ref, found)
    check_not_paused(ref, found)
    return MergePatch({"metadata": {"annotations": {SYNC_REQUEST: value}}})


async def request_sync(client: Client, ref: Ref, value: str) -> None:
    patch = sync_patch(ref, await client.get(ref.kind, ref.key), value)
    await client.patch(ref, patch, manager=FIELD_MANAGER)


def is_answered(found: Manifest, value: str) -> bool:
    return bool((found.get("status") or {}).get("lastSyncRequest") == value)


def sync_result(found: Manifest) -> str:
    """What the read has found; raises if the table could not be read, or Tenants could not be written."""
    ready = condition(found, "Ready")
    if ready.get("status") != "True":
        raise RequestError(str(ready.get("message") or "the registry has no condition Ready"))
    status = found.get("status") or {}
    rows = int(status.get("activeRows") or 0)
    parts = [f"{rows} active row{'' if rows == 1 else 's'}"]
    is_ready, desired = int(status.get("ready") or 0), int(status.get("desired") or 0)
    # Deletions that are held, or not carried out yet, leave more Tenants than the table asks for.
    of = f"{is_ready} of {desired} Tenants ready"
    parts.append(of if is_ready <= desired else f"{is_ready} Tenants ready, {desired} desired")
    if rejected := int(status.get("rejectedRows") or 0):
        parts.append(f"{rejected} rejected row{'' if rejected == 1 else 's'}")
    return ", ".join(parts)


def held_deletions(found: Manifest) -> int:
    """The number of Tenants whose deletion the guard holds after the read."""
    return int(((found.get("status") or {}).get("heldDeletion") or {}).get("count") or 0)
