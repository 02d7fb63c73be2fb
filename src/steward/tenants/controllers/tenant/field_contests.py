"""Counts how often other managers change the fields of an object that this operator applies.

The operator takes a changed field back. A manager that changes the same field again and again, such as an autoscaler,
does so on purpose: after three times within a minute the field is a conflict, and the operator leaves it alone for ten
minutes. The same holds for two Tenants that both take a whole object with conflictPolicy: Force.
"""

from collections.abc import Iterable
from typing import Final

from steward.kube.bounded_cache import LruCache
from steward.kube.objects.kinds import Ref
from steward.tenants.objects.ownership import TakenField

MAX_TAKES: Final = 3
TAKES_SECONDS: Final = 60.0
RETRY_AFTER_SECONDS: Final = 600.0
MAX_FIELDS: Final = 10_000
WHOLE_OBJECT: Final = "the object"
"""Used in place of a field when the whole object is contested."""


class FieldContests:
    """The times at which each field was taken. A cache: dropping an entry only allows the operator to try again."""

    def __init__(self) -> None:
        self._taken: LruCache[TakenField, tuple[float, ...]] = LruCache(MAX_FIELDS)

    def record(self, ref: Ref, managers: Iterable[tuple[str, str]], now: float) -> tuple[TakenField, ...]:
        """Records that other managers have taken these fields; returns those that the operator no longer takes back."""
        found = [TakenField(ref, manager, field) for manager, field in managers]
        return tuple(taken for taken in found if self._record(taken, now))

    def would_be_contested(self, ref: Ref, managers: Iterable[tuple[str, str]], now: float) -> bool:
        """Whether one of these fields would be contested if it was taken back once more."""
        found = [TakenField(ref, manager, field) for manager, field in managers]
        return any(
            self.is_contested(taken, now) or len(self._recent_times(taken, now)) + 1 >= MAX_TAKES
            for taken in found
        )

    def is_contested(self, taken: TakenField, now: float) -> bool:
        """Whether the operator no longer takes the field back."""
        times = self._taken.get(taken) or ()
        return len(times) >= MAX_TAKES and now - times[-1] < RETRY_AFTER_SECONDS

    def _recent_times(self, taken: TakenField, now: float) -> tuple[float, ...]:
        times = self._taken.get(taken) or ()
        return () if len(times) >= MAX_TAKES else tuple(time for time in times if now - time < TAKES_SECONDS)

    def _record(self, taken: TakenField, now: float) -> bool:
        if self.is_contested(taken, now):
            return True
        times = (*self._recent_times(taken, now), now)
        self._taken.set(taken, times)
        return len(times) >= MAX_TAKES
