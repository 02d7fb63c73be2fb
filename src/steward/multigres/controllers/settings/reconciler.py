"""Lets Postgres servers read changed settings, and reports what they say about them.

Servers mount the settings of their shard (`controllers/shard/postgres_config.py`). A change that needs a restart
changes the pods as well, and they are replaced; for any other one the kubelet updates the file in running pods within
about a minute, and this controller then reloads Postgres. multiadmin has no call for that, so each server is asked by
SQL. When all servers have the settings nothing is asked any more.
"""

import asyncio
from typing import NamedTuple

from steward.kube.cache.hashed_views import HashedData
from steward.kube.errors import NotFound
from steward.kube.objects.conditions import FALSE, TRUE, UNKNOWN, Condition, find_condition
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import NO_SETTINGS_HASH
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import SETTINGS, StatusContribution
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.objects.pool_containers import CONFIG_FILE
from steward.multigres.objects.shard_inputs import shard_inputs
from steward.multigres.objects.shard_shared import POSTGRES_CONFIG, POSTGRES_CONFIG_KEY
from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.status.conditions import SETTINGS_LOADED, read_conditions
from steward.multigres.views import ShardView
from steward.postgres.address import PostgresAddress
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.reconcile import DONE, RequeueAfter, Result

NAME = "settings"
RETRY_SECONDS = 10.0
READY = "Ready"
NOT_INCLUDED = (
    "has a data directory of an older release, whose postgresql.conf does not include the settings; add the line"
    f" include_if_exists = '{CONFIG_FILE}' there"
)


class _ServerSettings(NamedTuple):
    """What one server has; `waiting` is "" if it has the settings, `unknown` if it has answered. `pending` are settings
    that it applies when it restarts."""

    pod: str
    waiting: str = ""
    unknown: str = ""
    problems: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()

    @property
    def is_settled(self) -> bool:
        return not (self.waiting or self.unknown or self.pending)


class SettingsReconciler:
    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.shards = context.store(context.rules.shard)
        self.config_maps = context.store(context.rules.config_map)
        self.servers = PostgresServers(context)
        self.secrets = UserSecrets(context)
        self._loaded: dict[Key, str] = {}

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            NAME,
            self,
            (
                # A shard that is written for the first time has no settings; one that is gone is forgotten.
                For(rules.shard, when=lambda change: change.old is None or change.new is None),
                Watches(rules.shard, to=lambda shard: [key_of(shard)], when=selected_fields(_ready_servers)),
                Watches(rules.config_map, to=_shard_of_copy),
            ),
        )

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        copy = self.config_maps.get(Key(key.namespace, f"{key.name}-{POSTGRES_CONFIG}"))
        if shard is None or shard.metadata.deletion_timestamp is not None or copy is None:
            self._loaded.pop(key, None)
            return DONE
        is_paused = self.context.paused.includes(Ref(KIND, key))
        if self._loaded.get(key) == copy.data_hash or is_paused or not _ready_servers(shard):
            return DONE
        return DONE if _never_had_settings(shard, copy) else await self._load(shard, copy)

    async def _load(self, shard: ShardView, copy: HashedData) -> Result:
        key, text = key_of(shard), await self._text(key_of(copy))
        password = await self._password(shard)
        if text is None or password is None:
            return RequeueAfter(RETRY_SECONDS)
        addresses = [self.servers.server(shard, pod) for pod in _ready_servers(shard)]
        found = await asyncio.gather(*(_load_settings(address, password, text) for address in addresses))
        self._report(shard, found)
        if not all(server.is_settled for server in found):
            return RequeueAfter(RETRY_SECONDS)
        self._loaded[key] = copy.data_hash
        return DONE

    async def _text(self, config_map: Key) -> str | None:
        try:
            found = await self.context.client.get(CONFIG_MAP, config_map)
        except NotFound:
            return None
        text = (found.get("data") or {}).get(POSTGRES_CONFIG_KEY)
        return None if text is None else str(text)

    async def _password(self, shard: ShardView) -> str | None:
        inputs = shard_inputs(shard)
        secret = Key(shard.metadata.namespace, inputs.password_secret)
        value = await self.secrets.value(secret, inputs.password_key)
        return None if value is None else value.decode(errors="replace")

    def _report(self, shard: ShardView, servers: list[_ServerSettings]) -> None:
        condition = settings_condition(servers, shard.metadata.generation)
        contribution = StatusContribution((condition,), {})
        self.context.contributions.set(Ref(KIND, key_of(shard)), SETTINGS, contribution)


def settings_condition(servers: list[_ServerSettings], generation: int) -> Condition:
    problems = list(dict.fromkeys(problem for server in servers for problem in server.problems))
    if problems:
        message = f"Postgres does not apply settings: {'; '.join(first_texts(problems, 'problems'))}"
        return Condition(SETTINGS_LOADED, FALSE, reasons.SETTINGS_INVALID, message, generation)
    if waiting := next((server.waiting for server in servers if server.waiting), ""):
        return Condition(SETTINGS_LOADED, FALSE, reasons.SETTINGS_LOADING, waiting, generation)
    if unknown := next((server.unknown for server in servers if server.unknown), ""):
        return Condition(SETTINGS_LOADED, UNKNOWN, reasons.SETTINGS_STATE_UNKNOWN, unknown, generation)
    if pending := [server for server in servers if server.pending]:
        message = _pending_message(pending)
        return Condition(SETTINGS_LOADED, FALSE, reasons.SETTINGS_PENDING_RESTART, message, generation)
    message = "every server has read its settings"
    return Condition(SETTINGS_LOADED, TRUE, reasons.SETTINGS_LOADED, message, generation)


def _pending_message(servers: list[_ServerSettings]) -> str:
    names = sorted({name for server in servers for name in server.pending})
    pods = ", ".join(server.pod for server in servers)
    return (
        f"{', '.join(first_texts(names, 'settings'))} of {pods} apply when the pods have been replaced; if no rolling"
        " change is in progress, run `steward restart`"
    )


async def _load_settings(server: PostgresAddress, password: str, text: str) -> _ServerSettings:
    # Imported on first use: the driver costs memory, and settings change seldom.
    from steward.postgres import settings
    from steward.postgres.sessions import PostgresFailure

    pod = server.host.split(".")[0]
    try:
        state = await settings.load_settings(server, password, CONFIG_FILE, text)
    except PostgresFailure as error:
        return _ServerSettings(pod, unknown=str(error))
    if not state.is_included:
        return _ServerSettings(pod, problems=(f"{pod} {NOT_INCLUDED}",))
    if state.is_current:
        return _ServerSettings(pod, problems=state.problems, pending=state.pending)
    message = f"{pod} does not have the settings yet: its kubelet updates them within about a minute"
    return _ServerSettings(pod, waiting=message)


def _never_had_settings(shard: ShardView, copy: HashedData) -> bool:
    """Most shards have no settings, and no server is asked about them. Settings that were taken away are loaded."""
    reported = find_condition(read_conditions(shard.status.conditions), SETTINGS_LOADED)
    return copy.data_hash == NO_SETTINGS_HASH and reported is None


def _ready_servers(shard: ShardView) -> list[str]:
    """Others read the file when they start."""
    return [server.pod for server in or_default(shard.status.servers, []) if server.state == READY]


def _shard_of_copy(config_map: HashedData) -> list[Key]:
    suffix, meta = f"-{POSTGRES_CONFIG}", config_map.metadata
    return [Key(meta.namespace, meta.name.removesuffix(suffix))] if meta.name.endswith(suffix) else []
