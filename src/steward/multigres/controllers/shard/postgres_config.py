"""Takes over the Postgres settings of a user's ConfigMap into a copy that the servers mount.

Pods do not mount the user's ConfigMap: an edit would reach the next Postgres that starts, whatever it says, and a
lowered setting stops all servers. The cache has hashes of ConfigMaps only, so their contents are read when a hash
changes.
"""

from typing import Any, NamedTuple

from msgspec import UNSET

from steward.kube.errors import NotFound
from steward.kube.objects.conditions import TRUE, Condition
from steward.kube.objects.kinds import CONFIG_MAP, Key
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects.shard_inputs import copies_postgres_config
from steward.multigres.objects.shard_shared import POSTGRES_CONFIG, POSTGRES_CONFIG_KEY
from steward.multigres.rollout.postgres_settings import ConfigDecision, decide_config
from steward.multigres.status.conditions import POSTGRES_CONFIG_REFUSED, ComponentStatus
from steward.multigres.views import ShardView

NO_CONFIG = ConfigDecision(None)


class _Known(NamedTuple):
    """A decision, and the reference and hashes that it was made from."""

    inputs: tuple[str, ...]
    decision: ConfigDecision


class PostgresConfigs:
    def __init__(self, context: MultigresContext) -> None:
        self._client = context.client
        self._config_maps = context.store(context.rules.config_map)
        self._known: dict[Key, _Known] = {}

    def forget(self, shard: Key) -> None:
        self._known.pop(shard, None)

    async def decide(self, shard: ShardView) -> ConfigDecision:
        """Pods of an older version mount the user's ConfigMap itself."""
        key, copy = key_of(shard), _copy_key(shard)
        if not copies_postgres_config(shard.spec):
            return NO_CONFIG
        if shard.spec.postgres_config_ref is UNSET and self._config_maps.get(copy) is None:
            return NO_CONFIG
        inputs = (*_reference(shard), self._hash(_source_key(shard)), self._hash(copy))
        known = self._known.get(key)
        if known is None or known.inputs != inputs:
            known = self._known[key] = _Known(inputs, await self._read_and_decide(shard))
        return known.decision

    async def _read_and_decide(self, shard: ShardView) -> ConfigDecision:
        name, key = _reference(shard)
        current = await self._read(_copy_key(shard), POSTGRES_CONFIG_KEY)
        if not name:
            return decide_config(current, None, "a spec without postgresConfigRef")
        desired = await self._read(_source_key(shard), key)
        if desired is None:
            problem = f"ConfigMap {name} has no key {key}: create it, servers need it to start"
            return ConfigDecision(current, problem, is_missing=True)
        return decide_config(current, desired, f"key {key} of ConfigMap {name}")

    async def _read(self, config_map: Key, key: str) -> str | None:
        try:
            found: dict[str, Any] = await self._client.get(CONFIG_MAP, config_map)
        except NotFound:
            return None
        content = (found.get("data") or {}).get(key)
        return None if content is None else str(content)

    def _hash(self, config_map: Key) -> str:
        live = self._config_maps.get(config_map)
        return "" if live is None else live.data_hash


def config_components(decision: ConfigDecision) -> list[ComponentStatus]:
    if not decision.problem:
        return []
    return [ComponentStatus("Postgres settings", 1, 1, True, decision.problem)]


def config_conditions(decision: ConfigDecision, generation: int) -> list[Condition]:
    if not decision.problem:
        return []
    reason = reasons.SETTINGS_MISSING if decision.is_missing else reasons.SETTINGS_REFUSED
    return [Condition(POSTGRES_CONFIG_REFUSED, TRUE, reason, decision.problem, generation)]


def _reference(shard: ShardView) -> tuple[str, str]:
    reference = shard.spec.postgres_config_ref
    return ("", "") if reference is UNSET else (reference.name, reference.key)


def _source_key(shard: ShardView) -> Key:
    return Key(shard.metadata.namespace, _reference(shard)[0])


def _copy_key(shard: ShardView) -> Key:
    return Key(shard.metadata.namespace, f"{shard.metadata.name}-{POSTGRES_CONFIG}")
