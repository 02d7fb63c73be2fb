"""When servers read changed settings, and what is reported about them."""

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, SECRET, Key, Kind, Ref
from steward.multigres.cache_rules import SHARD, MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.controllers.settings.reconciler import RETRY_SECONDS, SettingsReconciler
from steward.multigres.status.conditions import settings_component
from steward.multigres.views import ShardView
from steward.postgres import settings
from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import ServerUnreachable
from steward.postgres.settings import SettingsState
from steward.runtime.reconcile import DONE, RequeueAfter

KEY = Key("ns", "s")
TEXT = "work_mem = '8MB'\n"


def _loaded_condition(reason: str) -> dict[str, str]:
    return {
        "type": "SettingsLoaded",
        "status": "False",
        "reason": reason,
        "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


class Shard:
    """A shard with two ready servers and one that starts."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        *states: SettingsState | Exception,
        text: str = TEXT,
        has_condition: bool = False,
    ) -> None:
        rules = MultigresCacheRules("")
        kinds = (rules.shard, rules.pod, rules.secret, rules.config_map)
        self._stores: dict[Kind, Store[Any]] = {rule.kind: Store(rule) for rule in kinds}
        self.states = list(states)
        self.calls: list[tuple[str, str]] = []
        self.contributions = StatusContributions()
        servers = [
            {"pod": f"p-{number}", "state": state, "since": "2026-01-01T00:00:00Z"}
            for number, state in enumerate(("Ready", "Ready", "Starting"))
        ]
        status: dict[str, Any] = {"servers": servers}
        if has_condition:
            status["conditions"] = [_loaded_condition("SettingsLoaded")]
        self._text = text
        self._write(SHARD, "s", {"spec": {"shardName": "0-inf"}, "status": status})
        self._write(CONFIG_MAP, "s-postgres-config", {"data": {"postgresql.conf": text}})
        context = SimpleNamespace(
            rules=rules,
            store=lambda rule: self._stores[rule.kind],
            settings=SimpleNamespace(connect_to=()),
            clock=SimpleNamespace(monotonic=lambda: 0.0, now=lambda: 0.0),
            client=SimpleNamespace(get=self._get),
            paused=SimpleNamespace(includes=lambda ref: False),
            contributions=self.contributions,
        )
        self.reconciler = SettingsReconciler(cast(MultigresContext, context))
        monkeypatch.setattr(settings, "load_settings", self._load)

    def _write(self, kind: Kind, name: str, fields: dict[str, Any]) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}
        self._stores[kind].observe_write(msgspec.json.encode(manifest))

    async def _get(self, kind: Kind, key: Key) -> dict[str, Any]:
        return {"data": {"password": "c2VjcmV0"} if kind == SECRET else {"postgresql.conf": self._text}}

    async def _load(self, server: PostgresAddress, password: str, path: str, text: str) -> SettingsState:
        assert (password, text) == ("secret", self._text)
        self.calls.append((server.host.split(".")[0], path))
        state = self.states[len(self.calls) - 1]
        if isinstance(state, Exception):
            raise state
        return state

    def condition(self) -> tuple[str, str, str]:
        status = self.contributions.merge_into(
            Ref(SHARD, KEY), self._shard().status, {"conditions": []}, "now"
        )
        [found] = status["conditions"]
        return found["status"], found["reason"], found["message"]

    def _shard(self) -> ShardView:
        found: ShardView = self._stores[SHARD].get(KEY)
        return found


LOADED, NOT_YET = SettingsState(is_current=True), SettingsState(is_current=False)


async def test_every_ready_server_is_asked_until_all_have_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shard = Shard(monkeypatch, LOADED, NOT_YET, LOADED, LOADED)
    assert await shard.reconciler.reconcile(KEY) == RequeueAfter(RETRY_SECONDS)
    assert shard.condition()[:2] == ("False", "SettingsLoading")
    assert await shard.reconciler.reconcile(KEY) == DONE
    assert shard.condition()[:2] == ("True", "SettingsLoaded")
    assert await shard.reconciler.reconcile(KEY) == DONE
    path = "/etc/pgctld/postgres-config/postgresql.conf"
    assert shard.calls == [("p-0", path), ("p-1", path)] * 2


async def test_what_postgres_does_not_accept_is_a_problem_in_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = SettingsState(True, ("work_mem: setting could not be applied",))
    shard = Shard(monkeypatch, refused, refused)
    await shard.reconciler.reconcile(KEY)
    status, reason, message = shard.condition()
    assert (status, reason) == ("False", "SettingsInvalid")
    assert message == "Postgres does not apply settings: work_mem: setting could not be applied"


async def test_a_server_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shard = Shard(monkeypatch, ServerUnreachable("no route"), LOADED)
    assert await shard.reconciler.reconcile(KEY) == RequeueAfter(RETRY_SECONDS)
    assert shard.condition() == ("Unknown", "SettingsStateUnknown", "no route")


async def test_settings_that_need_a_restart_are_pending_until_every_server_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pending = SettingsState(True, pending=("max_connections",))
    shard = Shard(monkeypatch, pending, LOADED, LOADED, LOADED)
    assert await shard.reconciler.reconcile(KEY) == RequeueAfter(RETRY_SECONDS)
    status, reason, message = shard.condition()
    assert (status, reason) == ("False", "SettingsPendingRestart")
    assert message.startswith("max_connections of p-0 apply when the pods have been replaced")
    assert await shard.reconciler.reconcile(KEY) == DONE
    assert shard.condition()[:2] == ("True", "SettingsLoaded")


async def test_a_data_directory_that_does_not_include_the_settings_is_reported_with_the_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shard = Shard(monkeypatch, SettingsState(True, is_included=False), LOADED)
    await shard.reconciler.reconcile(KEY)
    status, reason, message = shard.condition()
    assert (status, reason) == ("False", "SettingsInvalid")
    assert "p-0 has a data directory of an older release" in message
    assert "include_if_exists = '/etc/pgctld/postgres-config/postgresql.conf'" in message


@pytest.mark.parametrize("has_condition", [False, True])
async def test_servers_of_a_shard_without_settings_are_asked_only_if_it_had_some(
    monkeypatch: pytest.MonkeyPatch, has_condition: bool
) -> None:
    shard = Shard(monkeypatch, LOADED, LOADED, text="", has_condition=has_condition)
    assert await shard.reconciler.reconcile(KEY) == DONE
    assert bool(shard.calls) is has_condition


@pytest.mark.parametrize(
    ("reason", "count"),
    [("SettingsInvalid", 1), ("SettingsLoading", 0), ("SettingsStateUnknown", 0), ("SettingsLoaded", 0)],
)
def test_only_invalid_settings_degrade_a_shard(reason: str, count: int) -> None:
    condition = _loaded_condition(reason)
    status = msgspec.convert(
        {
            "metadata": {"name": "s", "uid": "u"},
            "spec": {"shardName": "0"},
            "status": {"conditions": [condition]},
        },
        ShardView,
    ).status
    assert len(settings_component(status.conditions)) == count
