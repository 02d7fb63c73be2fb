"""Sets ignored fields once, by a second field manager, so that the operator's own manager never owns them.

    new object              the second manager applies all of it, the operator its own part; then the second manager
                            releases that part
    operator owns fields    ignoreFields was added later: the second manager takes over the live values before the
                            operator stops applying them

Each step reads the managed fields from the API server, so one that was interrupted continues where it stopped.

Another manager may change an ignored field between the read and the apply. No apply here is forced, and each is bound
to the version that was read: a change in between is a conflict, and the object is read again. A field that another
manager has taken is no longer one of ours and is left alone.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from steward.kube.errors import Conflict, FieldConflict
from steward.kube.objects.kinds import Manifest, ref_of
from steward.runtime.plan.executor import StepEffect
from steward.runtime.plan.steps import Apply, Step
from steward.tenants.controllers.tenant.observe import ObjectReader
from steward.tenants.labels import FIELD_MANAGER, SEEDING_MANAGER
from steward.tenants.objects.ignore_fields import Fields, owned_paths, seed_manifest
from steward.tenants.objects.jsonpath import FieldPath

log = logging.getLogger(__name__)

ATTEMPTS = 5
"""The status of an object may change several times in a second; after that the Tenant is tried again later."""

WriteStep = Callable[[Step], Awaitable[StepEffect]]
Places = tuple[FieldPath, ...]


class IgnoredFieldSeeder:
    def __init__(self, reader: ObjectReader, write: WriteStep) -> None:
        self._reader = reader
        self._write = write

    async def seed(self, manifest: Manifest, places: Places) -> StepEffect:
        """Before the operator applies the object without the ignored fields."""
        return await _until_unchanged(lambda: self._seed(manifest, places))

    async def release(self, manifest: Manifest, places: Places) -> None:
        """After the operator has applied the object: the second manager keeps only the ignored fields that no other
        manager has taken."""
        await _until_unchanged(lambda: self._release(manifest, places))

    async def _seed(self, manifest: Manifest, places: Places) -> StepEffect:
        live = await self._reader.read_manifest(ref_of(manifest))
        if live is None:
            return await self._write(Apply(manifest, force=False, manager=SEEDING_MANAGER))
        owned = owned_paths(apply_entry(live, FIELD_MANAGER), manifest, places)
        if not owned:
            return StepEffect.UNCHANGED
        kept = owned_paths(apply_entry(live, SEEDING_MANAGER), manifest, places)
        both = tuple(place for place in places if place in owned or place in kept)
        return await self._write(_seed_step(manifest, live, both))

    async def _release(self, manifest: Manifest, places: Places) -> StepEffect:
        live = await self._reader.read_manifest(ref_of(manifest))
        entry = None if live is None else apply_entry(live, SEEDING_MANAGER)
        if live is None or entry is None:
            return StepEffect.UNCHANGED
        return await self._write(_seed_step(manifest, live, owned_paths(entry, manifest, places)))


def _seed_step(manifest: Manifest, live: Manifest, places: Places) -> Apply:
    version = live["metadata"]["resourceVersion"]
    seed = seed_manifest(manifest, live, places)
    return Apply(seed, force=False, manager=SEEDING_MANAGER, resource_version=version)


async def _until_unchanged(write: Callable[[], Awaitable[StepEffect]]) -> StepEffect:
    """Repeats a read and its write when the object has changed in between; the last conflict is raised."""
    for attempt in range(1, ATTEMPTS):
        try:
            return await write()
        except (Conflict, FieldConflict) as error:
            log.debug("attempt %d to set ignored fields: %s", attempt, error)
    return await write()


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
