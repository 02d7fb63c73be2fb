"""Who else has objects in a namespace: known by one list a kind, where asking for each name would be a call a name.

What is there before us must stop a cluster before anything of it is made. The list shows what is not ours, by metadata
alone, and serves all who ask within a moment: a fleet that comes up asks once for all its objects. Its word is not
needed for safety (the server itself refuses to make what is there): it spares the half that would be made before.
"""

import asyncio
from typing import NamedTuple

from steward.kube.client.client import Client, ListQuery
from steward.kube.clock import Clock
from steward.kube.objects.kinds import Kind, Ref
from steward.kube.objects.meta import Metadata
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY

FRESH_SECONDS = 5.0
MANY = 200
OF_OTHERS = f"{MANAGED_BY}!={FIELD_MANAGER}"


class Place(NamedTuple):
    kind: Kind
    namespace: str


class Seen(NamedTuple):
    """The names that others have taken; None where they are too many to be listed."""

    names: frozenset[str] | None
    until: float


class Neighbours:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client.metadata_only()
        self._clock = clock
        self._seen: dict[Place, Seen] = {}
        self._looking: dict[Place, asyncio.Lock] = {}

    async def may_have(self, ref: Ref) -> bool:
        taken = await self.taken(Place(ref.kind, ref.key.namespace))
        return taken is None or ref.key.name in taken

    async def taken(self, place: Place) -> frozenset[str] | None:
        """As of a moment ago; whoever finds a name in it looks again at that name."""
        # One who waits finds what the one before has seen: a hundred that come at once cost one call.
        async with self._looking.setdefault(place, asyncio.Lock()):
            known = self._seen.get(place)
            if known is None or self._clock.monotonic() >= known.until:
                known = await self._look(place)
        return known.names

    def forget(self, namespace: str) -> None:
        """Something was there that no list has shown."""
        self._seen = {place: seen for place, seen in self._seen.items() if place.namespace != namespace}

    async def _look(self, place: Place) -> Seen:
        query = ListQuery(namespace=place.namespace, label_selector=OF_OTHERS, limit=MANY)
        page = await self._client.first_page(place.kind, query, Metadata)
        names = None if page.more else frozenset(item.metadata.name for item in page.items)
        now = self._clock.monotonic()
        self._seen = {known: seen for known, seen in self._seen.items() if now < seen.until}
        seen = self._seen[place] = Seen(names, now + FRESH_SECONDS)
        return seen
