"""What the Tenant controller remembers between two looks at a Tenant. Losing it costs a write or an event, never truth.

Everything that must survive a restart is in the Tenant's status; what is here only spares the server: how far objects
were brought before the status says so, and what events have been told.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.tenants.api.scalars import UNSET, Unset
from steward.tenants.api.tenant import AppliedObject


class Told(NamedTuple):
    """An event that was sent and still holds."""

    reason: str
    message: str


class TenantMemory(Struct):
    uid: str
    """Of the Tenant: a namesake that comes later shares nothing."""
    records: dict[Ref, AppliedObject] = {}
    told: frozenset[Told] | None = None
    """None after a start: what the status already says was told by an earlier life."""
    conflicted: set[str] = set()
    """The resources that are in conflict, by id."""
    failing_since: dict[str, float] = {}
    """By id, since when a resource has failed, on the clock that only goes forward."""
    is_recalled: bool | None = None
    """Whether objects were recorded when we first saw it: an earlier life of ours knew more than the status tells."""

    def take_in(self, records: Sequence[AppliedObject]) -> None:
        """What the status says of objects of which we know nothing better."""
        if self.is_recalled is None:
            self.is_recalled = bool(records)
        for record in records:
            ref = Ref(Kind(record.api_version, record.kind), Key(record.namespace, record.name))
            self.records.setdefault(ref, record)


class Memories:
    def __init__(self) -> None:
        self._known: dict[Key, TenantMemory] = {}

    def of(self, key: Key, uid: str) -> TenantMemory:
        known = self._known.get(key)
        if known is None or known.uid != uid:
            known = self._known[key] = TenantMemory(uid)
        return known

    def forget(self, key: Key) -> None:
        self._known.pop(key, None)


class Brought(NamedTuple):
    """What an apply did: to which object, whether it changed anything, and when."""

    uid: str
    changed: bool
    generation: int
    now: str


def brought_up(record: AppliedObject, before: AppliedObject | None, done: Brought) -> AppliedObject:
    """The record of an object after an apply. Its time moves only when the object was changed."""
    since: str | Unset = UNSET if before is None or before.uid not in ("", done.uid) else before.changed_at
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
