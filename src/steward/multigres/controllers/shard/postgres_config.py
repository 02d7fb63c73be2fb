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
from steward.multigres.cache_rules import NO_SETTINGS_HASH
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.controllers.shard.needed_settings import NeededSettingsReader, ServerVolumes
from steward.multigres.objects.shard_inputs import CONFIG_ANNOTATION, copies_postgres_config
from steward.multigres.objects.shard_shared import POSTGRES_CONFIG, POSTGRES_CONFIG_KEY
from steward.multigres.resolution.postgres.conf_format import parse_settings
from steward.multigres.resolution.postgres.settings import inline_settings
from steward.multigres.rollout.postgres_settings import (
    NOT_READ,
    ConfigDecision,
    CurrentConfig,
    DesiredConfig,
    decide_config,
    is_lowering,
    keep_config,
)
from steward.multigres.status.conditions import POSTGRES_CONFIG_REFUSED, ComponentStatus
from steward.multigres.views import ShardView
from steward.postgres.setting_values import KnownSetting
from steward.runtime.plan.steps import Plan, Requeue

NO_SERVERS = ServerVolumes()
NO_CONFIG = ConfigDecision(None)
NO_REFERENCE = "a spec without postgresConfigRef"
OLD_PODS = (
    "postgres.settings needs the pods of this version of the operator; accept its update (steward updates)"
)


class _Known(NamedTuple):
    """A decision, and the reference and hashes that it was made from; for one that refuses lowered settings also what
    was known about the servers."""

    inputs: tuple[str, ...]
    decision: ConfigDecision
    servers: object = None

    def is_valid(self, inputs: tuple[str, ...], servers: object) -> bool:
        is_final = not self.decision.is_lowered or self.servers == servers
        return self.inputs == inputs and is_final and self.decision.retry_after is None


class PostgresConfigs:
    def __init__(self, context: MultigresContext) -> None:
        self._client = context.client
        self._config_maps = context.store(context.rules.config_map)
        self._servers = PostgresServers(context)
        self._secrets = UserSecrets(context)
        self._needed = NeededSettingsReader(context)
        self._known: dict[Key, _Known] = {}

    def forget(self, shard: Key) -> None:
        self._known.pop(shard, None)

    async def decide(self, shard: ShardView, servers: ServerVolumes = NO_SERVERS) -> ConfigDecision:
        """Pods of an older version mount the user's ConfigMap itself."""
        inline = inline_settings(shard.spec.postgres)
        if not copies_postgres_config(shard.spec):
            return ConfigDecision(None, OLD_PODS) if inline else NO_CONFIG
        is_asked = shard.spec.postgres_config_ref is not UNSET or bool(inline)
        copy_hash = self._hash(_copy_key(shard))
        if not is_asked and copy_hash in ("", NO_SETTINGS_HASH):
            return NO_CONFIG
        inputs = (*_reference(shard), inline, self._hash(_source_key(shard)), copy_hash)
        key = key_of(shard)
        known, facts = self._known.get(key), self._needed.facts(key)
        if known is None or not known.is_valid(inputs, facts):
            known = self._known[key] = _Known(inputs, await self._read_and_decide(shard, servers), facts)
        return known.decision

    async def _read_and_decide(self, shard: ShardView, servers: ServerVolumes) -> ConfigDecision:
        name, key = _reference(shard)
        current = await self._current(shard)
        inline = inline_settings(shard.spec.postgres)
        if not name:
            source = "the spec" if inline else NO_REFERENCE
            return await self._decide(shard, servers, current, DesiredConfig(inline or None, source))
        desired = await self._read(_source_key(shard), key)
        if desired is None:
            problem = f"ConfigMap {name} has no key {key}: create it, servers need it to start"
            return keep_config(current)._replace(problem=problem, is_missing=True)
        source = f"key {key} of ConfigMap {name}"
        if inline:
            # The last line of a setting wins.
            desired, source = f"{desired}\n{inline}", f"{source} with postgres.settings"
        return await self._decide(shard, servers, current, DesiredConfig(desired, source))

    async def _decide(
        self, shard: ShardView, servers: ServerVolumes, current: CurrentConfig, desired: DesiredConfig
    ) -> ConfigDecision:
        if desired.text == current.text:
            return keep_config(current)
        names = parse_settings(f"{current.text or ''}\n{desired.text or ''}")
        known, needed = await self._known_settings(shard, sorted(names)), NOT_READ
        if is_lowering(current, desired):
            needed = await self._needed.read(shard, servers)
        return decide_config(current, desired, known, needed)

    async def _known_settings(self, shard: ShardView, names: list[str]) -> dict[str, KnownSetting] | None:
        """What the primary says about the settings; None if it cannot be asked."""
        if not names or not or_default(shard.status.primary, ""):
            return None
        password = await self._secrets.superuser_password(shard)
        if password is None:
            return None
        # Imported on first use: the driver costs memory, and settings change seldom.
        from steward.postgres import settings
        from steward.postgres.sessions import PostgresFailure

        try:
            return await settings.known_settings(self._servers.primary(shard), password, names)
        except PostgresFailure:
            return None

    async def _current(self, shard: ShardView) -> CurrentConfig:
        found = await self._get(_copy_key(shard))
        if found is None:
            return CurrentConfig()
        annotations = found.get("metadata", {}).get("annotations") or {}
        return CurrentConfig(_content(found, POSTGRES_CONFIG_KEY), annotations.get(CONFIG_ANNOTATION))

    async def _read(self, config_map: Key, key: str) -> str | None:
        found = await self._get(config_map)
        return None if found is None else _content(found, key)

    async def _get(self, config_map: Key) -> dict[str, Any] | None:
        try:
            return await self._client.get(CONFIG_MAP, config_map)
        except NotFound:
            return None

    def _hash(self, config_map: Key) -> str:
        live = self._config_maps.get(config_map)
        return "" if live is None else live.data_hash


def config_components(decision: ConfigDecision) -> list[ComponentStatus]:
    if not decision.problem:
        return []
    return [ComponentStatus("Postgres settings", 1, 1, True, decision.problem)]


def config_steps(decision: ConfigDecision) -> Plan:
    return () if decision.retry_after is None else (Requeue(decision.retry_after),)


def config_conditions(decision: ConfigDecision, generation: int) -> list[Condition]:
    if not decision.problem:
        return []
    return [Condition(POSTGRES_CONFIG_REFUSED, TRUE, _reason(decision), decision.problem, generation)]


def _reason(decision: ConfigDecision) -> str:
    if decision.is_unknown:
        return reasons.SETTINGS_UNKNOWN
    return reasons.SETTINGS_MISSING if decision.is_missing else reasons.SETTINGS_REFUSED


def _content(config_map: dict[str, Any], key: str) -> str | None:
    content = (config_map.get("data") or {}).get(key)
    return None if content is None else str(content)


def _reference(shard: ShardView) -> tuple[str, str]:
    reference = shard.spec.postgres_config_ref
    return ("", "") if reference is UNSET else (reference.name, reference.key)


def _source_key(shard: ShardView) -> Key:
    return Key(shard.metadata.namespace, _reference(shard)[0])


def _copy_key(shard: ShardView) -> Key:
    return Key(shard.metadata.namespace, f"{shard.metadata.name}-{POSTGRES_CONFIG}")
