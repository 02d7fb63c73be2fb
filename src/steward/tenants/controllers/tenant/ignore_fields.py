"""Sets ignored fields once, by a manager of their own, and sees to it that ours never owns them.

    not there yet       the second manager applies the whole object, ours its own part, and the second lets that part go
    ours owns them      ignoreFields came later: the second takes the living values before ours lets go of them

Each step looks at who owns what on the server, so that one that was cut short goes on where it stopped.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from steward.kube.objects.kinds import Manifest, ref_of
from steward.runtime.plan.executor import Effect
from steward.runtime.plan.steps import Apply, Step
from steward.tenants.controllers.tenant.observe import Eyes
from steward.tenants.labels import FIELD_MANAGER, SEEDING_MANAGER
from steward.tenants.objects.ignore_fields import Fields, owned_places, seeded
from steward.tenants.objects.jsonpath import Concrete

Carry = Callable[[Step], Awaitable[Effect]]
Places = tuple[Concrete, ...]


class Seeding:
    def __init__(self, eyes: Eyes, carry: Carry) -> None:
        self._eyes = eyes
        self._carry = carry

    async def before(self, manifest: Manifest, places: Places) -> Effect:
        """Before ours is applied without the ignored fields."""
        live = await self._eyes.whole(ref_of(manifest))
        if live is None:
            return await self._carry(Apply(manifest, force=False, manager=SEEDING_MANAGER))
        owned = owned_places(entry_of(live, FIELD_MANAGER), manifest, places)
        if not owned:
            return Effect.UNCHANGED
        kept = owned_places(entry_of(live, SEEDING_MANAGER), manifest, places)
        both = tuple(place for place in places if place in owned or place in kept)
        return await self._carry(Apply(seeded(manifest, live, both), manager=SEEDING_MANAGER))

    async def after(self, manifest: Manifest, places: Places) -> None:
        """Once ours is applied: the second manager keeps the ignored fields that nobody has taken, and nothing else."""
        live = await self._eyes.whole(ref_of(manifest))
        entry = None if live is None else entry_of(live, SEEDING_MANAGER)
        if live is None or entry is None:
            return
        kept = owned_places(entry, manifest, places)
        await self._carry(Apply(seeded(manifest, live, kept), manager=SEEDING_MANAGER))


def entry_of(live: Manifest, manager: str) -> Fields | None:
    """What a manager owns of an object by apply; None where it never applied anything."""
    entries: list[dict[str, Any]] = live["metadata"].get("managedFields") or []
    for entry in entries:
        if (
            entry.get("manager") == manager
            and entry.get("operation") == "Apply"
            and not entry.get("subresource")
        ):
            fields: Fields = entry.get("fieldsV1") or {}
            return fields
    return None
