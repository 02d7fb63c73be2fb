"""What users keep in Secrets of their own, read live and remembered for a while: no cache holds what is not ours.

A Secret of ours is read again when the cache says that it changed, another's after a minute, or after seconds while it
is missing. So a reconcile seldom asks the server, and a changed password is followed without a watch on all Secrets.
"""

import base64
from typing import NamedTuple

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import SECRET, Key
from steward.multigres.controllers.common.context import ControllerContext

REMEMBER_SECONDS = 60.0
MISSING_SECONDS = 4.0


class _Remembered(NamedTuple):
    version: str
    until: float
    value: bytes | None
    is_there: bool


class UserSecrets:
    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._ours = context.store(context.rules.secret)
        self._remembered: dict[tuple[Key, str], _Remembered] = {}

    async def value(self, secret: Key, key: str) -> bytes | None:
        """What stands under the key of a Secret; None if there is no such Secret, or no such key in it."""
        return (await self._look(secret, key)).value

    async def exists(self, secret: Key) -> bool:
        return (await self._look(secret, "")).is_there

    async def _look(self, secret: Key, key: str) -> _Remembered:
        seen = self._ours.get(secret)
        version = "" if seen is None else seen.metadata.resource_version
        known = self._remembered.get((secret, key))
        if known is not None and known.version == version and (version or self._now() < known.until):
            return known
        fresh = self._remembered[(secret, key)] = await self._read(secret, key, version)
        return fresh

    async def _read(self, secret: Key, key: str, version: str) -> _Remembered:
        try:
            found = await self._context.client.get(SECRET, secret)
        except NotFound:
            return _Remembered(version, self._now() + MISSING_SECONDS, None, False)
        encoded = (found.get("data") or {}).get(key)
        value = None if encoded is None else base64.b64decode(encoded)
        return _Remembered(version, self._now() + REMEMBER_SECONDS, value, True)

    def _now(self) -> float:
        return self._context.clock.monotonic()
