"""Sets ignored fields once, by a second field manager, so that the operator's own manager never owns them.

    new object              the second manager applies all of it, the operator its own part; then the second manager
                            releases that part
    operator owns fields    ignoreFields was added later: the second manager takes over the live values before the
                            operator stops applying them

Each step reads the managed fields from the API server, so one that was interrupted continues where it stopped.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from steward.kube.objects.kinds import Manifest, ref_of
from steward.runtime.plan.executor import StepEffect
from steward.runtime.plan.steps import Apply, Step
from steward.tenants.controllers.tenant.observe import ObjectReader
from steward.tenants.labels import FIELD_MANAGER, SEEDING_MANAGER
from steward.tenants.objects.ignore_fields import Fields, owned_paths, seed_manifest
from steward.tenants.objects.jsonpath import FieldPath

WriteStep = Callable[[Step], Awaitable[StepEffect]]
Places = tuple[FieldPath, ...]


class IgnoredFieldSeeder:
    def __init__(self, reader: ObjectReader, write: WriteStep) -> None:
        self._reader = reader
        self._write = write

    async def seed(self, manifest: Manifest, places: Places) -> StepEffect:
        """Before the operator applies the object without the ignored fields."""
        live = await self._reader.read_manifest(ref_of(manifest))
        if live is None:
            return await self._write(Apply(manifest, force=False, manager=SEEDING_MANAGER))
        owned = owned_paths(apply_entry(live, FIELD_MANAGER), manifest, places)
        if not owned:
            return StepEffect.UNCHANGED
        kept = owned_paths(apply_entry(live, SEEDING_MANAGER), manifest, places)
        both = tuple(place for place in places if place in owned or place in kept)
        return await self._write(Apply(seed_manifest(manifest, live, both), manager=SEEDING_MANAGER))

    async def release(self, manifest: Manifest, places: Places) -> None:
        """After the operator has applied the object: the second manager keeps only the ignored fields that no other
        manager has taken."""
        live = await self._reader.read_manifest(ref_of(manifest))
        entry = None if live is None else apply_entry(live, SEEDING_MANAGER)
        if live is None or entry is None:
            return
        kept = owned_paths(entry, manifest, places)
        await self._write(Apply(seed_manifest(manifest, live, kept), manager=SEEDING_MANAGER))


def apply_entry(live: Manifest, manager: str) -> Fields | None:
    """The fields that a manager owns by apply; None if it never applied the object."""
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
