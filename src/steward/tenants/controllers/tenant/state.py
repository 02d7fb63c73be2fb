"""State of the Tenant controller between two reconciles of a Tenant.

Everything that must survive a restart is in the Tenant's status. Losing this state costs a write or an event, never
correctness.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.runtime.plan.executor import WRITES, StepEffect
from steward.tenants.api.scalars import UNSET, Unset
from steward.tenants.api.tenant import AppliedObject


class WarningEvent(NamedTuple):
    """A warning event that was emitted and still holds."""

    reason: str
    message: str


@dataclass
class TenantState:
    uid: str
    """Of the Tenant: a later Tenant of the same name starts with a new state."""
    records: dict[Ref, AppliedObject] = field(default_factory=dict)
    """What was applied to each object, until the status that holds it is written."""
    warnings: frozenset[WarningEvent] | None = None
    """The warnings of the last reconcile. None after a start: an earlier process may have emitted them."""
    conflicted: set[str] = field(default_factory=set)
    """Ids of the resources that are in conflict."""
    settled_generation: int = 0
    """The generation in which this process has seen all objects ready: a later write of the same generation puts back
    what others changed. One number, because a fleet has many objects. Not from the status: after an upgrade the
    operator itself may write other fields."""
    restored: list[Ref] = field(default_factory=list)
    """Objects that were put back and are not reported yet."""
    repaired_at: dict[Ref, float] = field(default_factory=dict)
    """When fields of an existing object were put back, on the monotonic clock, until all objects are ready."""
    failing_since: dict[str, float] = field(default_factory=dict)
    """By resource id: when it began to fail, on the monotonic clock."""
    had_records: bool | None = None
    """Whether the status had records when this process first read it: then an earlier process may have found conflicts
    that the status does not list."""

    def note_applied(self, ref: Ref, generation: int, effect: StepEffect, now: float) -> None:
        if effect not in WRITES or self.settled_generation != generation:
            return
        self.restored.append(ref)
        if effect is StepEffect.CHANGED:
            self.repaired_at[ref] = now

    def add_records(self, records: Sequence[AppliedObject]) -> None:
        """Takes the records of the status for objects that this process has not applied since."""
        if self.had_records is None:
            self.had_records = bool(records)
        for record in records:
            ref = Ref(Kind(record.api_version, record.kind), Key(record.namespace, record.name))
            self.records.setdefault(ref, record)


class TenantStates:
    """By Tenant, its state."""

    def __init__(self) -> None:
        self._states: dict[Key, TenantState] = {}

    def get(self, key: Key, uid: str) -> TenantState:
        state = self._states.get(key)
        if state is None or state.uid != uid:
            state = self._states[key] = TenantState(uid)
        return state

    def forget(self, key: Key) -> None:
        self._states.pop(key, None)


class NamespaceDependents:
    """By namespace, the Tenants that write to it and do not create it themselves."""

    def __init__(self) -> None:
        self._tenants: dict[str, set[Key]] = {}
        self._namespaces: dict[Key, frozenset[str]] = {}

    def set(self, tenant: Key, namespaces: frozenset[str]) -> None:
        for gone in self._namespaces.pop(tenant, frozenset()) - namespaces:
            self._remove(gone, tenant)
        if namespaces:
            self._namespaces[tenant] = namespaces
        for namespace in namespaces:
            self._tenants.setdefault(namespace, set()).add(tenant)

    def tenants_in(self, namespace: str) -> tuple[Key, ...]:
        return tuple(self._tenants.get(namespace, ()))

    def _remove(self, namespace: str, tenant: Key) -> None:
        tenants = self._tenants[namespace]
        tenants.discard(tenant)
        if not tenants:
            del self._tenants[namespace]


class ApplyRecord(NamedTuple):
    """What an apply did: to which object, whether it changed anything, and when."""

    uid: str
    changed: bool
    generation: int
    now: str


def updated_record(record: AppliedObject, previous: AppliedObject | None, done: ApplyRecord) -> AppliedObject:
    """The record of an object after an apply. `changed_at` moves only when the object was changed."""
    since: str | Unset = (
        UNSET if previous is None or previous.uid not in ("", done.uid) else previous.changed_at
    )
    changed_at = done.now if done.changed or since is UNSET else since
    return AppliedObject(
        api_version=record.api_version,
        kind=record.kind,
        namespace=record.namespace,
        name=record.name,
        id=record.id,
        uid=done.uid,
        changed_at=changed_at,
        generation=done.generation,
    )
