"""Decides which objects and fields of others the operator may take over, and when it stops doing so."""

from steward.kube.clock import Clock
from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import Ref
from steward.tenants.controllers.tenant.field_contests import WHOLE_OBJECT, FieldContests
from steward.tenants.controllers.tenant.observe import ObservedObject
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.ownership import (
    TakenField,
    contested_fields_message,
    contested_object_message,
    describe_owner,
    foreign_managers,
    object_conflict_message,
)

FieldOwners = tuple[tuple[str, str], ...]
"""Managers, each with the field that it owns."""


class OwnershipConflict(Exception):
    """The object, or a field of it, is not managed by this operator and may not be taken over."""


class ConflictPolicy:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._contests = FieldContests()

    def require_object(self, desired: DesiredObject, live: ObservedObject, home: str) -> None:
        """Raises unless the object may be taken from its owner. Two owners that both use Force would never settle.
        `home`: the namespace of the Tenant, whose users read the message."""
        if desired.resource.conflict_policy != "Force":
            raise OwnershipConflict(object_conflict_message(desired.ref, live.meta, home))
        taken = TakenField(desired.ref, describe_owner(live.meta), WHOLE_OBJECT)
        if self._contests.is_contested(taken, self._clock.monotonic()):
            raise OwnershipConflict(contested_object_message(desired.ref, live.meta, home))

    def note_object_taken(self, desired: DesiredObject, live: ObservedObject) -> None:
        self._contests.record(
            desired.ref, [(describe_owner(live.meta), WHOLE_OBJECT)], self._clock.monotonic()
        )

    def require_fields(self, desired: DesiredObject, error: FieldConflict) -> FieldOwners:
        """For fields that are applied for the first time: raises if others own them and the policy is not Force."""
        owners = foreign_managers(error)
        if owners and desired.resource.conflict_policy != "Force":
            raise error
        self.note_fields_taken(desired.ref, owners)
        return owners

    def note_fields_taken(self, ref: Ref, owners: FieldOwners) -> None:
        """Raises where a manager takes the same field again and again."""
        contested = self._contests.record(ref, owners, self._clock.monotonic())
        if contested:
            raise OwnershipConflict(contested_fields_message(ref, contested))

    def require_restorable(self, ref: Ref, owners: FieldOwners) -> FieldOwners:
        """Raises as `note_fields_taken` does, but counts nothing: the fields are about to be written, and that can
        fail."""
        if self._contests.would_be_contested(ref, owners, self._clock.monotonic()):
            self.note_fields_taken(ref, owners)
        return owners

    def note_fields_restored(self, ref: Ref, owners: FieldOwners) -> None:
        self._contests.record(ref, owners, self._clock.monotonic())
