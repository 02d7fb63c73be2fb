"""How StorageClasses bind volumes: read from the API server when an unbound claim needs it, and cached for a minute.

Rejected: the claim's events, which expire after an hour and need the right to read all events; and a watch, which would
hold every class in memory for fleets without claims.
"""

from typing import Final

from msgspec import Struct

from steward.kube.bounded_cache import TtlCache
from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import Forbidden, NotFound
from steward.kube.objects.kinds import STORAGE_CLASS, Key

CACHED_SECONDS: Final = 60.0
FIRST_CONSUMER: Final = "WaitForFirstConsumer"
_MISSING: Final = "missing"


class _StorageClass(Struct, rename="camel"):
    volume_binding_mode: str = ""


class StorageClasses:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._modes: TtlCache[str, str] = TtlCache(clock, CACHED_SECONDS)

    async def binds_on_first_use(self, name: str) -> bool | None:
        """Whether a claim of the class is bound only when a pod uses it; None if the operator may not read the
        class."""
        mode = self._modes.get(name)
        if mode is None:
            try:
                mode = await self._read_mode(name)
            except Forbidden:
                return None
            self._modes.set(name, mode)
        return mode == FIRST_CONSUMER

    async def _read_mode(self, name: str) -> str:
        try:
            found = await self._client.get(STORAGE_CLASS, Key("", name), _StorageClass)
        except NotFound:
            return _MISSING
        return found.volume_binding_mode
