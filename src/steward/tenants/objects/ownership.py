"""Whose an object is, and what is said when it is not ours. Pure, but for the memory of who took what.

Ours: our tracking labels, an owner reference to this Tenant, or the mark of an orphan, which waits to be adopted. On an
object of ours a field that we apply is taken back from whoever changed it. Who takes the same field again and again,
an autoscaler say, means it: after three times in a minute it is a conflict, and we stop. So does a Tenant that takes
the whole object by force.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple

from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta, controller_of
from steward.tenants.labels import FIELD_MANAGER, ORPHANED, SEEDING_MANAGER, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.orphans import Owner, is_ours

TAKES: Final = 3
TAKES_SECONDS: Final = 60.0
PEACE_SECONDS: Final = 600.0
REMEMBERED: Final = 10_000
WHOLE: Final = "the object"
"""What is taken where an owner and not a field is contested."""
CURE: Final = "Check the namespace, review nameTemplate, or set conflictPolicy: Force"
CURE_OF_FIELDS: Final = (
    "List the field in ignoreFields, take it out of the template, or set conflictPolicy: Force"
)
CURE_OF_CONTESTS: Final = "List the field in ignoreFields, or take it out of the template"
OUR_MANAGERS: Final = frozenset((FIELD_MANAGER, SEEDING_MANAGER, f"{FIELD_MANAGER}-heal"))


def may_touch(meta: ObjectMeta, owner: Owner) -> bool:
    return is_ours(meta, owner) or is_orphan(meta)


def is_orphan(meta: ObjectMeta) -> bool:
    """Let go by a Tenant, and not taken up by another since."""
    return meta.labels.get(ORPHANED) == "true" and TENANT not in meta.labels


def holder(meta: ObjectMeta) -> str:
    """Who has an object that is not ours, as far as it says so itself."""
    name, namespace = meta.labels.get(TENANT), meta.labels.get(TENANT_NAMESPACE)
    if name is not None:
        return f"Tenant {namespace or meta.namespace}/{name}"
    controller = controller_of(meta)
    return f"{controller.kind} {controller.name}" if controller is not None else "somebody else"


def object_conflict(ref: Ref, meta: ObjectMeta) -> str:
    return f"Resource {ref.key.name} exists with different owner: {ref} belongs to {holder(meta)}. {CURE}"


def contested_object(ref: Ref, meta: ObjectMeta) -> str:
    return (
        f"Resource {ref.key.name} exists with different owner: {holder(meta)} takes {ref} again and again. "
        "Check the namespace, review nameTemplate, or leave conflictPolicy: Force to one of them"
    )


def doubled_conflict(ref: Ref, earlier: str) -> str:
    return (
        f"Resource {ref.key.name} exists with different owner: {ref} is resource {earlier!r} already. {CURE}"
    )


def field_conflict(ref: Ref, error: FieldConflict) -> str:
    held = [f"{field} belongs to {manager}" for manager, field in error.managers]
    return f"{ref}: {_some(held)}. {CURE_OF_FIELDS}"


def fields_taken(ref: Ref, held: Iterable[tuple[str, str]]) -> str:
    taken = [f"{field} was taken from {manager}" for manager, field in held]
    return f"{ref}: {_some(taken)}, as conflictPolicy: Force says"


def contest(ref: Ref, taken: "Iterable[Taken]") -> str:
    held = [f"{found.manager} takes {found.field} again and again" for found in taken]
    return f"{ref}: {_some(held)}. {CURE_OF_CONTESTS}"


def _some(sentences: list[str], most: int = 3) -> str:
    more = f" and {len(sentences) - most} more" if len(sentences) > most else ""
    return ", ".join(sentences[:most]) + more


def strangers(error: FieldConflict) -> tuple[tuple[str, str], ...]:
    """Without our own former selves: an operator before us, or the manager that seeds ignored fields."""
    return tuple((manager, field) for manager, field in error.managers if manager not in OUR_MANAGERS)


class Taken(NamedTuple):
    """A field of ours that another manager set."""

    ref: Ref
    manager: str
    field: str


class Contests:
    """Who took which field when. It forgets: a contest that has rested for long is tried again."""

    def __init__(self) -> None:
        self._taken: OrderedDict[Taken, tuple[float, ...]] = OrderedDict()

    def note(self, ref: Ref, managers: Iterable[tuple[str, str]], now: float) -> tuple[Taken, ...]:
        """Takes in that these fields were found in other hands; returns those for which we no longer fight."""
        found = [Taken(ref, manager, field) for manager, field in managers]
        return tuple(taken for taken in found if self._is_contested(taken, now))

    def foresee(self, ref: Ref, managers: Iterable[tuple[str, str]], now: float) -> bool:
        """Whether to put these fields back once more would be once too often."""
        found = [Taken(ref, manager, field) for manager, field in managers]
        return any(self.is_lost(taken, now) or len(self._lately(taken, now)) + 1 >= TAKES for taken in found)

    def is_lost(self, taken: Taken, now: float) -> bool:
        """Whether we no longer fight for it, as far as is known so far."""
        times = self._taken.get(taken, ())
        return len(times) >= TAKES and now - times[-1] < PEACE_SECONDS

    def _lately(self, taken: Taken, now: float) -> tuple[float, ...]:
        times = self._taken.get(taken, ())
        return () if len(times) >= TAKES else tuple(time for time in times if now - time < TAKES_SECONDS)

    def _is_contested(self, taken: Taken, now: float) -> bool:
        if self.is_lost(taken, now):
            return True
        times = self._taken[taken] = (*self._lately(taken, now), now)
        self._taken.move_to_end(taken)
        if len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)
        return len(times) >= TAKES
