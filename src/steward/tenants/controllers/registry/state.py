"""What is known of a registry between two looks at it. Lost without harm: the status says the rest again."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from steward.kube.errors import KubeError
from steward.tenants.api.registry import HeldDeletion, RejectedRow
from steward.tenants.controllers.registry.table_reads import Inputs
from steward.tenants.controllers.registry.tenant_writer import FleetWriter
from steward.tenants.guard.approval import Hold, HoldReason
from steward.tenants.guard.judge import Memory
from steward.tenants.sources.rows import Rejected, Rows
from steward.tenants.status.conditions import conditions_of
from steward.tenants.status.registry import SOURCE_REACHABLE
from steward.tenants.views import Registry

NOTHING_REMEMBERED = Memory()


class Rest(NamedTuple):
    """What a sync was made from that found and left everything as it should be: from the same, another one would do
    nothing."""

    rows: bytes
    """Their digest."""
    inputs: Inputs
    fleet: int
    """The version of the fleet."""


@dataclass
class RegistryMemory:
    uid: str
    """Of the registry: one that is made again begins anew."""
    writer: FleetWriter
    guard: Memory = NOTHING_REMEMBERED
    inputs: Inputs | None = None
    """What the last read was begun with; None before the first."""
    secrets: tuple[str, ...] | None = None
    """The versions of the Secrets that the last read used."""
    next_sync: float = 0.0
    failures: int = 0
    """How many reads have failed in a row."""
    source_problem: str = ""
    write_failure: KubeError | None = None
    active_rows: int | None = None
    rejected: tuple[Rejected, ...] = ()
    last_sync: str = ""
    pending: Rows | None = None
    """Rows that are not all written yet: a rollout goes on, or a write failed. Kept no longer than that."""
    under_way: frozenset[str] | None = None
    """The Tenants of throttled templates that were under way, or about to be, at the last turn of this term."""
    look_again_at: float | None = None
    rest: Rest | None = None
    deleting: set[str] = field(default_factory=set)
    """Tenants that we deleted and that are not gone yet."""


def recalled(registry: Registry, writer: FleetWriter) -> RegistryMemory:
    """As the status has it, so that what held before a restart holds until the table has been read again."""
    status = registry.status
    memory = RegistryMemory(registry.metadata.uid, writer, Memory(hold=_hold(status)))
    rows = status.get("activeRows")
    memory.active_rows = rows if isinstance(rows, int) else None
    memory.last_sync = str(status.get("lastSyncTime") or "")
    memory.rejected = _rejected(status)
    for condition in conditions_of(status):
        if condition.type == SOURCE_REACHABLE and condition.status == "False" and memory.last_sync:
            memory.source_problem = condition.message.partition(". The last known rows")[0]
    return memory


def _hold(status: dict[str, Any]) -> Hold | None:
    try:
        found = msgspec.convert(status["heldDeletion"], HeldDeletion)
        return Hold(HoldReason(found.reason), found.count, found.digest, tuple(found.sample))
    except (KeyError, ValueError):
        return None


def _rejected(status: dict[str, Any]) -> tuple[Rejected, ...]:
    try:
        found = msgspec.convert(status.get("rejected") or [], list[RejectedRow])
    except msgspec.ValidationError:
        return ()
    return tuple(Rejected(row.uid, row.reason) for row in found)
