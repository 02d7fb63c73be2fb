"""Takes a Tenant's objects down, in the reverse of the order in which they depend on each other.

What nothing depends on goes first, and a level is only begun when the one before it is gone. The finalizer stays until
the last is: what cannot be deleted shows in the status by name, and nothing is left behind in another namespace. The
way out is the annotation `kubernetes-tenants.org/force-delete`: all is tried once, and the Tenant goes.
"""

from typing import Final, NamedTuple

from steward.kube.objects.kinds import Key
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.common.document import Document
from steward.tenants.controllers.tenant.prune import Cleaner, Leaving, Left
from steward.tenants.labels import FORCE_DELETE
from steward.tenants.objects.dependencies import deletion_levels, edges_of
from steward.tenants.objects.desired import Scope, resources_of, wanted_objects
from steward.tenants.objects.orphans import Applied, applied_of

WAIT_SECONDS: Final = 1.0


class Departure(NamedTuple):
    """How far the deletion of a Tenant's objects is."""

    waits_for: tuple[Applied, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        return not self.waits_for

    @property
    def message(self) -> str:
        if self.problems:
            told = "; ".join(self.problems[:3])
            return f'{told}. Cure it, or set the annotation {FORCE_DELETE}: "true" to leave it behind'
        names = ", ".join(f"{found.kind} {Key(found.namespace, found.name)}" for found in self.waits_for[:3])
        return f"waits until {names} is gone"


def is_forced(document: Document) -> bool:
    return document.metadata.annotations.get(FORCE_DELETE, "").lower() == "true"


def departure_levels(document: Document) -> list[list[Applied]]:
    """Everything that was written down or is in the spec, in the order in which it goes."""
    by_id: dict[str, list[Applied]] = {}
    for found in (*document.recorded, *_in_spec(document)):
        same = by_id.setdefault(found.id, [])
        if not any(found.is_same_object(other) for other in same):
            same.append(found)
    levels = deletion_levels(edges_of(resources_of(document.spec)))
    known = {id for level in levels for id in level}
    # What the template forgot is needed by nothing that it still knows.
    strays = [found for id, each in by_id.items() if id not in known for found in each]
    return [strays, *([found for id in level for found in by_id.get(id, ())] for level in levels)]


def _in_spec(document: Document) -> list[Applied]:
    """An operator before us may have lost its records. A body that nobody rendered names no objects."""
    if document.spec.template_generation is UNSET:
        return []
    scope = Scope(document.owner, (), None)
    return [each.applied for each in wanted_objects(resources_of(document.spec), scope)]


async def depart(cleaner: Cleaner, document: Document, leaving: Leaving) -> Departure:
    is_stopped = not is_forced(document)
    for level in departure_levels(document):
        left = [each for each in await cleaner.clean(level, leaving) if is_left(each, document)]
        if left and is_stopped:
            return _departure(left)
    return Departure()


def is_left(found: Left, document: Document) -> bool:
    """What we may not look at was never applied by us, since we look first: a ClusterRole that was refused must not
    keep its Tenant for ever. Unless its uid was once written down, or the operator before us has recorded it."""
    if not found.is_hidden:
        return not found.is_gone
    ours = [record.uid for record in document.records if found.applied.is_same_object(applied_of(record))]
    former = any(found.applied.is_same_object(each) for each in document.recorded)
    return any(ours) if ours else former


def _departure(left: list[Left]) -> Departure:
    problems = tuple(each.problem for each in left if each.problem)
    return Departure(tuple(each.applied for each in left), problems)
