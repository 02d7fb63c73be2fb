"""State of the registry controller between two reconciles of a registry.

Losing it is harmless: the status has what must survive a restart, and the next read of the table gives the rest.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from steward.kube.errors import KubeError
from steward.tenants.api.registry import RejectedRow
from steward.tenants.api.status import HeldDeletion
from steward.tenants.controllers.registry.table_reads import SyncInputs
from steward.tenants.controllers.registry.tenant_writer import TenantWriter
from steward.tenants.errors import UnrecordedTenants
from steward.tenants.guard.approval import DeletionHold, HoldReason
from steward.tenants.guard.decision import GuardState
from steward.tenants.sources.rows import RowRejection, Rows
from steward.tenants.status.conditions import read_conditions
from steward.tenants.status.registry import SOURCE_REACHABLE
from steward.tenants.views import Registry

EMPTY_GUARD_STATE = GuardState()


class SyncVersion(NamedTuple):
    """What a sync depends on. If the last one with the same version had nothing to do, the next has nothing to do."""

    rows: bytes
    """Digest of the rows."""
    inputs: SyncInputs
    fleet: int
    """Version of the fleet: see `FleetIndex.version`."""
    statuses: int
    """Version of the statuses of the fleet, if a rollout is limited: it reads which Tenants are ready. Else 0."""


@dataclass
class RegistryState:
    uid: str
    """Of the registry: one that is created again starts with a new state."""
    writer: TenantWriter
    """Writes the Tenants, and knows what it wrote."""
    guard: GuardState = EMPTY_GUARD_STATE
    """What the deletion guard knows from earlier reads."""
    inputs: SyncInputs | None = None
    """Inputs of the last read; None before the first."""
    secret_versions: tuple[str, ...] | None = None
    """Versions of the Secrets that the last read used; None before the first."""
    next_sync: float = 0.0
    """When the next read is due, in monotonic time: a wall clock that is set back must not delay it. 0 until a sync has
    completed, or a read has failed."""
    failures: int = 0
    """Consecutive failed reads, for the backoff."""
    source_problem: str = ""
    """Why the last read failed; empty if it did not."""
    write_failure: KubeError | UnrecordedTenants | None = None
    """Why a Tenant could not be written by the last sync; retried with backoff."""
    active_rows: int | None = None
    """Active rows of the last read; None before the first."""
    inactive_rows: int | None = None
    """Inactive rows of the last read; None before the first."""
    rejected: tuple[RowRejection, ...] = ()
    """Rows that make no Tenant, each with its reason."""
    last_sync: str = ""
    """Time of the last successful read."""
    last_duration: str = ""
    """How long that read took."""
    last_request: str = ""
    """The request of a user that the last read answered, whether it succeeded or not."""
    pending_rows: Rows | None = None
    """Rows that are not all written: a rollout is in progress, or a write failed. Dropped once they are."""
    in_progress: frozenset[str] | None = None
    """Tenants with maxSkew that were in progress, or about to be, after the last batch of this leadership term."""
    recheck_at: float | None = None
    """When the rollout in progress has to be checked again."""
    last_no_op: SyncVersion | None = None
    """Version of the last sync, if it had nothing to do."""
    deleting: set[str] = field(default_factory=set)
    """Tenants that were deleted and still exist."""


def restore_state(registry: Registry, writer: TenantWriter) -> RegistryState:
    """From the status, so that what it reports is kept after a restart until the table has been read again."""
    status = registry.status
    state = RegistryState(registry.metadata.uid, writer, GuardState(hold=_hold(status)))
    state.active_rows = _count(status, "activeRows")
    state.inactive_rows = _count(status, "inactiveRows")
    state.last_sync = str(status.get("lastSyncTime") or "")
    state.last_duration = str(status.get("lastSyncDuration") or "")
    state.last_request = str(status.get("lastSyncRequest") or "")
    state.rejected = _rejected(status)
    for condition in read_conditions(status):
        if condition.type == SOURCE_REACHABLE and condition.status == "False" and state.last_sync:
            state.source_problem = condition.message.partition(". The last known rows")[0]
    return state


def _count(status: dict[str, Any], field: str) -> int | None:
    found = status.get(field)
    return found if isinstance(found, int) else None


def _hold(status: dict[str, Any]) -> DeletionHold | None:
    try:
        found = msgspec.convert(status["heldDeletion"], HeldDeletion)
        return DeletionHold(HoldReason(found.reason), found.count, found.digest, tuple(found.sample))
    except (KeyError, ValueError):
        return None


def _rejected(status: dict[str, Any]) -> tuple[RowRejection, ...]:
    try:
        found = msgspec.convert(status.get("rejected") or [], list[RejectedRow])
    except msgspec.ValidationError:
        return ()
    return tuple(RowRejection(row.uid, row.reason) for row in found)
