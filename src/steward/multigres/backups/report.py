"""The status of a MultigresBackup as it is written, and the event of its end. Pure."""

from typing import Any

import msgspec

from steward.kube.objects.conditions import (
    FALSE,
    READY,
    RECONCILING,
    STALLED,
    TRUE,
    Condition,
    condition_manifests,
    set_conditions,
    without_condition,
)
from steward.kube.objects.kinds import Ref
from steward.multigres import reasons
from steward.multigres.api.multigres_backup import MultigresBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.backups.progress import COMPLETED, FAILED, PENDING, REQUESTED, RUNNING
from steward.multigres.backups.queue import is_ended
from steward.multigres.views import MultigresBackupView
from steward.runtime.plan.steps import Emit, EventType, Plan, Status

REASONS = {
    PENDING: reasons.BACKUP_WAITING,
    REQUESTED: reasons.BACKUP_RUNNING,
    RUNNING: reasons.BACKUP_RUNNING,
    COMPLETED: reasons.BACKUP_COMPLETED,
    FAILED: reasons.BACKUP_FAILED,
}


def report_backup(ref: Ref, live: MultigresBackupView, status: MultigresBackupStatus, now: str) -> Plan:
    """Writes nothing if nothing has changed; an event tells the end."""
    plan: Plan = (Status(ref, _status_manifest(live, status, now)),)
    phase = or_default(status.phase, PENDING)
    if is_ended(live) or phase not in (COMPLETED, FAILED):
        return plan
    kind = EventType.WARNING if phase == FAILED else EventType.NORMAL
    return (*plan, Emit(ref, REASONS[phase], or_default(status.message, ""), kind, live.metadata.uid))


def _status_manifest(live: MultigresBackupView, status: MultigresBackupStatus, now: str) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(status)
    fields["observedGeneration"] = live.metadata.generation
    fields["conditions"] = condition_manifests(_conditions(live, status, now))
    return fields


def _conditions(live: MultigresBackupView, status: MultigresBackupStatus, now: str) -> tuple[Condition, ...]:
    phase, message = or_default(status.phase, PENDING), or_default(status.message, "")
    previous = msgspec.convert(
        msgspec.to_builtins(or_default(live.status.conditions, [])), tuple[Condition, ...]
    )
    desired = {
        READY: TRUE if phase == COMPLETED else FALSE,
        RECONCILING: FALSE if phase in (COMPLETED, FAILED) else TRUE,
        STALLED: TRUE if phase == FAILED else FALSE,
    }
    for absent in (RECONCILING, STALLED):
        previous = without_condition(previous, absent) if desired[absent] == FALSE else previous
    shown = [
        Condition(type_, value, REASONS[phase], message, live.metadata.generation)
        for type_, value in desired.items()
        if type_ == READY or value == TRUE
    ]
    return set_conditions(previous, shown, now)
