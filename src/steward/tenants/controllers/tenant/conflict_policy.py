"""What may be taken from others, an object or a field of it, and where we no longer fight for it."""

from steward.kube.clock import Clock
from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import Ref
from steward.tenants.controllers.tenant.observe import Seen
from steward.tenants.objects.desired import Wanted
from steward.tenants.objects.ownership import (
    WHOLE,
    Contests,
    Taken,
    contest,
    contested_object,
    holder,
    object_conflict,
    strangers,
)

Held = tuple[tuple[str, str], ...]
"""Managers, and the field that each of them holds."""


class ConflictFound(Exception):
    """The object, or a field of it, belongs to somebody else."""


class Claims:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._contests = Contests()

    def claim(self, wanted: Wanted, seen: Seen) -> None:
        """Raises unless the object may be taken from its owner. Two who both take by force would never come to rest."""
        if wanted.resource.conflict_policy != "Force":
            raise ConflictFound(object_conflict(wanted.ref, seen.meta))
        if self._contests.is_lost(Taken(wanted.ref, holder(seen.meta), WHOLE), self._clock.monotonic()):
            raise ConflictFound(contested_object(wanted.ref, seen.meta))

    def took(self, wanted: Wanted, seen: Seen) -> None:
        """Takes in that the object was its owner's."""
        self._contests.note(wanted.ref, [(holder(seen.meta), WHOLE)], self._clock.monotonic())

    def claim_fields(self, wanted: Wanted, error: FieldConflict) -> Held:
        """Fields that we ask for the first time: raises unless nobody else, or only the policy, stands against it."""
        held = strangers(error)
        if held and wanted.resource.conflict_policy != "Force":
            raise error
        self.fight(wanted.ref, held)
        return held

    def fight(self, ref: Ref, held: Held) -> None:
        """Raises where somebody takes the same field again and again."""
        contested = self._contests.note(ref, held, self._clock.monotonic())
        if contested:
            raise ConflictFound(contest(ref, contested))

    def contend(self, ref: Ref, held: Held) -> Held:
        """The same for fields that are about to be put back: what is tried and not written is not counted."""
        if self._contests.foresee(ref, held, self._clock.monotonic()):
            self.fight(ref, held)
        return held

    def put_back(self, ref: Ref, held: Held) -> None:
        self._contests.note(ref, held, self._clock.monotonic())
