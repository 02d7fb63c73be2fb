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
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.objects.shard_inputs import copies_postgres_config, shard_inputs
from steward.multigres.objects.shard_shared import POSTGRES_CONFIG, POSTGRES_CONFIG_KEY
from steward.multigres.resolution.postgres.settings import inline_settings, setting_names
from steward.multigres.rollout.postgres_settings import ConfigDecision, decide_config, refuse_unknown
from steward.multigres.status.conditions import POSTGRES_CONFIG_REFUSED, ComponentStatus
from steward.multigres.views import ShardView

NO_CONFIG = ConfigDecision(None)
NO_REFERENCE = "a spec without postgresConfigRef"
OLD_PODS = (
    "postgres.settings needs the pods of this version of the operator; accept its update (steward updates)"
)


class _Known(NamedTuple):
    """A decision, and the reference and hashes that it was made from."""

    inputs: tuple[str, ...]
    decision: ConfigDecision


class PostgresConfigs:
    def __init__(self, context: MultigresContext) -> None:
        self._client = context.client
        self._config_maps = context.store(context.rules.config_map)
        self._servers = PostgresServers(context)
        self._secrets = UserSecrets(context)
        self._known: dict[Key, _Known] = {}

    def forget(self, shard: Key) -> None:
        self._known.pop(shard, None)

    async def decide(self, shard: ShardView) -> ConfigDecision:
        """Pods of an older version mount the user's ConfigMap itself."""
        key, copy = key_of(shard), _copy_key(shard)
        inline = inline_settings(shard.spec.postgres)
        if not copies_postgres_config(shard.spec):
            return ConfigDecision(None, OLD_PODS) if inline else NO_CONFIG
        is_asked = shard.spec.postgres_config_ref is not UNSET or bool(inline)
        if not is_asked and self._config_maps.get(copy) is None:
            return NO_CONFIG
        inputs = (*_reference(shard), inline, self._hash(_source_key(shard)), self._hash(copy))
        known = self._known.get(key)
        if known is None or known.inputs != inputs:
            known = self._known[key] = _Known(inputs, await self._read_and_decide(shard))
        return known.decision

    async def _read_and_decide(self, shard: ShardView) -> ConfigDecision:
        name, key = _reference(shard)
        current = await self._read(_copy_key(shard), POSTGRES_CONFIG_KEY)
        inline = inline_settings(shard.spec.postgres)
        if not name:
            return await self._decide(shard, current, inline or None, "the spec" if inline else NO_REFERENCE)
        desired = await self._read(_source_key(shard), key)
        if desired is None:
            problem = f"ConfigMap {name} has no key {key}: create it, servers need it to start"
            return ConfigDecision(current, problem, is_missing=True)
        # The last line of a setting wins.
        text = f"{desired}\n{inline}" if inline else desired
        source = f"key {key} of ConfigMap {name}"
        return await self._decide(
            shard, current, text, f"{source} with postgres.settings" if inline else source
        )

    async def _decide(
        self, shard: ShardView, current: str | None, desired: str | None, source: str
    ) -> ConfigDecision:
        decision = decide_config(current, desired, source)
        if decision.problem or decision.text is None or decision.text == current:
            return decision
        unknown = await self._unknown_settings(shard, setting_names(decision.text))
        return refuse_unknown(current, unknown, source) if unknown else decision

    async def _unknown_settings(self, shard: ShardView, names: list[str]) -> list[str]:
        """Names that the primary does not know. Without a primary nothing is known: a new shard has none, and its
        Postgres says in the log of its pod what it does not accept."""
        if not or_default(shard.status.primary, ""):
            return []
        inputs = shard_inputs(shard)
        secret = Key(shard.metadata.namespace, inputs.password_secret)
        password = await self._secrets.value(secret, inputs.password_key)
        if password is None:
            return []
        # Imported on first use: the driver costs memory, and settings change seldom.
        from steward.postgres import settings
        from steward.postgres.sessions import PostgresFailure

        try:
            return await settings.unknown_settings(
                self._servers.primary(shard), password.decode(errors="replace"), names
            )
        except PostgresFailure:
            return []

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
    return [Condition(POSTGRES_CONFIG_REFUSED, TRUE, _reason(decision), decision.problem, generation)]


def _reason(decision: ConfigDecision) -> str:
    if decision.is_unknown:
        return reasons.SETTINGS_UNKNOWN
    return reasons.SETTINGS_MISSING if decision.is_missing else reasons.SETTINGS_REFUSED


def _reference(shard: ShardView) -> tuple[str, str]:
    reference = shard.spec.postgres_config_ref
    return ("", "") if reference is UNSET else (reference.name, reference.key)


def _source_key(shard: ShardView) -> Key:
    return Key(shard.metadata.namespace, _reference(shard)[0])


def _copy_key(shard: ShardView) -> Key:
    return Key(shard.metadata.namespace, f"{shard.metadata.name}-{POSTGRES_CONFIG}")
