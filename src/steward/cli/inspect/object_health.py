"""The health of one object, the message about it, and since when. Pure."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import msgspec

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Manifest, kind_of
from steward.kube.objects.readiness import Failed, NotReady, readiness_of
from steward.multigres.status.pod_problems import pod_problem
from steward.multigres.views import PodView

MULTIGRES = "multigres.com/v1alpha1"
TENANTS = "operator.kubernetes-tenants.org/v1"
NOT_RECONCILED = "no operator has reconciled it yet"
BEING_DELETED = "is being deleted"
PAUSED, HIBERNATED, STOPPED = "paused", "hibernated", "stopped"
WITHOUT_SERVERS = (HIBERNATED, STOPPED)
_UPDATES = ("TemplateUpdateAvailable", "OperatorUpdateAvailable")
_IN_PROGRESS = "OperatorUpdateInProgress"


class Health(IntEnum):
    """Worst first: sorting puts problems on top."""

    FAILED = 0
    WAITING = 1
    READY = 2


def object_health(manifest: Manifest) -> tuple[Health, str]:
    """The health, and the message about it; "" if it is ready."""
    for type_ in ("Degraded", "DeletionHeld"):
        if is_true(manifest, type_):
            return Health.FAILED, str((condition(manifest, type_) or {}).get("message", ""))
    if "deletionTimestamp" in manifest["metadata"]:
        return Health.WAITING, _deletion_message(manifest)
    if kind_of(manifest) == kinds.PERSISTENT_VOLUME_CLAIM:
        phase = (manifest.get("status") or {}).get("phase", "")
        return (Health.READY, "") if phase == "Bound" else (Health.WAITING, f"is {phase or 'new'}")
    if kind_of(manifest) == kinds.POD and (pod_health := _pod_health(manifest)):
        return pod_health
    if _is_custom(manifest) and not (manifest.get("status") or {}).get("conditions"):
        return Health.WAITING, NOT_RECONCILED
    return _readiness(manifest)


def _is_custom(manifest: Manifest) -> bool:
    return manifest["apiVersion"] in (MULTIGRES, TENANTS)


def _readiness(manifest: Manifest) -> tuple[Health, str]:
    readiness = readiness_of(manifest)
    if isinstance(readiness, Failed):
        return Health.FAILED, readiness.message
    if rejected := _rejected_rows_message(manifest):
        return Health.FAILED, rejected
    if isinstance(readiness, NotReady):
        return Health.WAITING, _waiting_message(manifest, readiness.message)
    if unhealthy := _backup_message(manifest):
        return Health.FAILED, unhealthy
    return Health.READY, ""


def _backup_message(manifest: Manifest) -> str:
    """What is wrong with the backups of a cluster or shard that is ready; "" if nothing is."""
    found = condition(manifest, "BackupHealthy") or {}
    return f"backups: {found.get('message', '')}" if found.get("status") == "False" else ""


def _deletion_message(manifest: Manifest) -> str:
    """With the operator's own message about the deletion, if it has one."""
    for type_ in ("Terminating", "Draining"):
        found = condition(manifest, type_)
        if found is not None and found.get("status") == "True" and found.get("message"):
            return f"{BEING_DELETED}: {found['message']}"
    return BEING_DELETED


def _rejected_rows_message(manifest: Manifest) -> str:
    """The number of rejected rows of a registry, and the first of them; "" if there are none."""
    status = manifest.get("status") or {}
    rows, count = status.get("rejected") or (), status.get("rejectedRows", 0)
    if not rows:
        return ""
    first = f"row {rows[0].get('uid')!r}: {rows[0].get('reason')}"
    return (
        f"{count} row is rejected: {first}"
        if count == 1
        else f"{count} rows are rejected, among them {first}"
    )


def _pod_health(manifest: Manifest) -> tuple[Health, str] | None:
    view = msgspec.convert(manifest, PodView)
    if problem := pod_problem(view):
        return Health.FAILED, problem
    scheduled = condition(manifest, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        # Only the first sentence: the rest is about preemption and claims, and changes all the time.
        reason = str(scheduled.get("message", "")).partition(". ")[0]
        return Health.WAITING, f"cannot be scheduled: {reason}"
    return None


def _waiting_message(manifest: Manifest, default: str) -> str:
    ready = condition(manifest, "Ready")
    if ready is not None and ready.get("status") != "True" and ready.get("message"):
        return str(ready["message"])
    return default


def health_since(manifest: Manifest) -> str:
    """When the health changed last. Without a condition that records it (a StatefulSet has none), when the spec was
    written last: the age of an object is not how long it has been waiting."""
    if deleted := manifest["metadata"].get("deletionTimestamp"):
        return str(deleted)
    for type_ in ("DeletionHeld", "Degraded", "Stalled", "Ready", "Applied"):
        found = condition(manifest, type_)
        if found is not None and (found.get("status") == "True" or type_ in ("Ready", "Applied")):
            return str(found.get("lastTransitionTime", ""))
    return _written_at(manifest) or str(manifest["metadata"].get("creationTimestamp", ""))


def _written_at(manifest: Manifest) -> str:
    entries = manifest["metadata"].get("managedFields") or ()
    return max((str(each.get("time", "")) for each in entries if not each.get("subresource")), default="")


def summarize_object(manifest: Manifest) -> str:
    """What `status` says of an object without children; "" to count the children."""
    if manifest["kind"] != "TenantTemplate":
        return ""
    status = manifest.get("status") or {}
    return describe_ready_tenants(status.get("readyTenants", 0), status.get("totalTenants", 0))


def describe_ready_tenants(ready: int, total: int) -> str:
    return f"{ready} of {total} Tenants are ready"


def kept_claims(manifest: Manifest) -> int:
    """How many volume claims a cluster keeps without a server that uses them."""
    if manifest["kind"] != "MultigresCluster":
        return 0
    return len((manifest.get("status") or {}).get("retainedClaims") or ())


def last_backup(manifest: Manifest) -> str:
    """When the newest complete backup of a shard ended; "" if there is none, or if it has no repository."""
    if manifest["kind"] != "Shard":
        return ""
    return str(((manifest.get("status") or {}).get("backup") or {}).get("lastBackupAt", ""))


def repository_bytes(manifest: Manifest) -> int | None:
    """What the backups of a shard take in its repository; None if it is unknown."""
    if manifest["kind"] != "Shard":
        return None
    return ((manifest.get("status") or {}).get("backup") or {}).get("repositoryBytes")


def server_roles(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    """The servers of a shard, each as its pod and what it is: `primary` or `standby`, with its cell."""
    servers = (manifest.get("status") or {}).get("servers") if manifest["kind"] == "Shard" else None
    return tuple(
        (each["pod"], " in ".join(part for part in (str(each["role"]).lower(), each.get("cell")) if part))
        for each in servers or ()
        if each.get("role")
    )


def waiting_tenants(manifest: Manifest) -> int:
    """How many Tenants of a template wait until others of its rollout are ready."""
    status = manifest.get("status")
    rollout = status.get("rollout") if isinstance(status, dict) else None
    if not rollout or rollout.get("phase") not in ("InProgress", "Failed"):
        return 0
    return max(0, int(rollout.get("totalNodes") or 0) - int(rollout.get("updatedNodes") or 0))


def has_pending_update(manifest: Manifest) -> bool:
    """Whether a change of the cluster waits for a user or a window."""
    found = (condition(manifest, type_) or {} for type_ in _UPDATES)
    return any(each.get("status") == "True" and each.get("reason") != _IN_PROGRESS for each in found)


def suspension(manifest: Manifest) -> str:
    """`paused`, `hibernated` or `stopped` (pools without replicas), if a user has asked for it; "" otherwise. None is a
    problem, and each explains why nothing happens."""
    if is_true(manifest, "Paused"):
        return PAUSED
    status = manifest.get("status")
    phase = status.get("phase") if isinstance(status, dict) else None
    return {"Hibernated": HIBERNATED, "Stopped": STOPPED}.get(str(phase), "")


def is_true(manifest: Manifest, type_: str) -> bool:
    return (condition(manifest, type_) or {}).get("status") == "True"


def condition(manifest: Manifest, type_: str) -> dict[str, Any] | None:
    status = manifest.get("status")
    listed = status.get("conditions") if isinstance(status, dict) else None
    return next((each for each in listed or () if each.get("type") == type_), None)
