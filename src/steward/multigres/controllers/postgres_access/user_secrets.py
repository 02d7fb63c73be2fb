"""Reads Secrets that users provide, live, and caches the values for a short time: foreign Secrets are not watched.

A managed Secret is read again when the cache shows another version, a foreign one after a minute, and a missing one
after a few seconds. A reconcile therefore seldom asks the API server, and a changed password is picked up without a
watch on all Secrets.
"""

import base64
from typing import NamedTuple

from steward.kube.bounded_cache import TtlCache
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import SECRET, Key
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects.shard_inputs import shard_inputs
from steward.multigres.views import ShardView

CACHED_SECONDS = 60.0
MISSING_SECONDS = 4.0
MANAGED_SECONDS = 3600.0


class _SecretValue(NamedTuple):
    """`version` is the cached version of a managed Secret when the value was read; "" for a foreign Secret."""

    version: str
    exists: bool
    value: bytes | None = None


class UserSecrets:
    def __init__(self, context: MultigresContext) -> None:
        self._client = context.client
        self._managed = context.store(context.rules.secret)
        self._values: TtlCache[tuple[Key, str], _SecretValue] = TtlCache(context.clock, CACHED_SECONDS)

    def is_managed(self, secret: Key) -> bool:
        """Whether the operator made the Secret, without a request."""
        return self._managed.get(secret) is not None

    async def value(self, secret: Key, key: str) -> bytes | None:
        """The value of a key in a Secret; None if the Secret or the key does not exist."""
        return (await self._get(secret, key)).value

    async def superuser_password(self, shard: ShardView) -> str | None:
        """None if its Secret or the key does not exist."""
        inputs = shard_inputs(shard)
        secret = Key(shard.metadata.namespace, inputs.password_secret)
        password = await self.value(secret, inputs.password_key)
        return None if password is None else password.decode(errors="replace")

    async def exists(self, secret: Key) -> bool:
        return (await self._get(secret, "")).exists

    async def _get(self, secret: Key, key: str) -> _SecretValue:
        live = self._managed.get(secret)
        version = "" if live is None else live.metadata.resource_version
        cached = self._values.get((secret, key))
        if cached is not None and cached.version == version:
            return cached
        fresh = await self._read(secret, key, version)
        self._values.set((secret, key), fresh, _ttl(fresh))
        return fresh

    async def _read(self, secret: Key, key: str, version: str) -> _SecretValue:
        try:
            live = await self._client.get(SECRET, secret)
        except NotFound:
            return _SecretValue(version, exists=False)
        encoded = (live.get("data") or {}).get(key)
        return _SecretValue(version, True, None if encoded is None else base64.b64decode(encoded))


def _ttl(secret: _SecretValue) -> float:
    """The watch shows when a managed Secret changes: it expires only so that deleted ones do not stay in memory."""
    if secret.version:
        return MANAGED_SECONDS
    return CACHED_SECONDS if secret.exists else MISSING_SECONDS
