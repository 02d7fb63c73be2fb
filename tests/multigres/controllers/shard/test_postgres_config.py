"""Postgres settings of a user's ConfigMap, and the copy that servers read."""

from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api.cluster import PostgresConfig
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.shard.postgres_config import (
    PostgresConfigs,
    config_components,
    config_conditions,
)
from steward.multigres.objects.versions import FIRST, NEWEST
from steward.multigres.rollout.postgres_settings import ConfigDecision
from steward.multigres.views import ShardView

HIGH, LOW = "max_connections = 150", "max_connections = 120"
REFERENCE = PostgresConfig(name="settings", key="conf")
COPY, SOURCE = "s-postgres-config", "settings"


class Settings:
    """ConfigMaps of a namespace, and how often one was read."""

    def __init__(self) -> None:
        self.contents: dict[str, dict[str, str]] = {}
        self.reads = 0
        store = SimpleNamespace(get=self.cached)
        rules = SimpleNamespace(config_map=None)
        context: Any = SimpleNamespace(client=self, rules=rules, store=lambda rule: store)
        self.configs = PostgresConfigs(context)

    def cached(self, key: Key) -> Any:
        data = self.contents.get(key.name)
        return None if data is None else SimpleNamespace(data_hash=sha256(str(data).encode()).hexdigest())

    async def get(self, kind: Kind, key: Key) -> dict[str, Any]:
        self.reads += 1
        if key.name not in self.contents:
            raise NotFound.__new__(NotFound)
        return {"data": self.contents[key.name]}

    async def decide(self, reference: Any = REFERENCE, version: int = NEWEST) -> ConfigDecision:
        spec = ShardSpec(shard_name="0", postgres_config_ref=reference, objects_version=version)
        return await self.configs.decide(ShardView(ObjectMeta(name="s", namespace="shop"), spec))


@pytest.fixture
def settings() -> Settings:
    return Settings()


async def test_the_first_settings_are_taken_over_whatever_they_are(settings: Settings) -> None:
    settings.contents[SOURCE] = {"conf": LOW}
    assert await settings.decide() == ConfigDecision(LOW)


async def test_raised_settings_are_taken_over_and_lowered_ones_refused(settings: Settings) -> None:
    settings.contents |= {SOURCE: {"conf": HIGH}, COPY: {"postgresql.conf": LOW}}
    assert await settings.decide() == ConfigDecision(HIGH)
    settings.contents |= {SOURCE: {"conf": LOW}, COPY: {"postgresql.conf": HIGH}}
    decision = await settings.decide()
    assert decision.text == HIGH
    assert decision.problem.startswith(
        "key conf of ConfigMap settings lowers max_connections from 150 to 120"
    )


async def test_contents_are_read_when_a_hash_changes_and_not_before(settings: Settings) -> None:
    settings.contents |= {SOURCE: {"conf": LOW}, COPY: {"postgresql.conf": LOW}}
    for _ in range(3):
        await settings.decide()
    assert settings.reads == 2
    settings.contents[SOURCE] = {"conf": HIGH}
    await settings.decide()
    assert settings.reads == 4


async def test_settings_that_cannot_be_taken_back_stay_without_a_reference(settings: Settings) -> None:
    settings.contents[COPY] = {"postgresql.conf": HIGH}
    decision = await settings.decide(UNSET)
    assert (decision.text, "a spec without postgresConfigRef" in decision.problem) == (HIGH, True)
    settings.contents[COPY] = {"postgresql.conf": "work_mem = 8MB"}
    assert await settings.decide(UNSET) == ConfigDecision(None)


async def test_a_missing_key_is_reported_and_servers_keep_their_settings(settings: Settings) -> None:
    settings.contents |= {SOURCE: {"other": LOW}, COPY: {"postgresql.conf": HIGH}}
    decision = await settings.decide()
    assert decision.text == HIGH
    assert "ConfigMap settings has no key conf" in decision.problem


async def test_pods_of_the_first_version_mount_the_configmap_itself(settings: Settings) -> None:
    settings.contents[SOURCE] = {"conf": LOW}
    assert await settings.decide(version=FIRST) == ConfigDecision(None)
    assert settings.reads == 0


@pytest.mark.parametrize(
    ("is_missing", "reason"), [(False, reasons.SETTINGS_REFUSED), (True, reasons.SETTINGS_MISSING)]
)
def test_a_problem_degrades_the_shard_and_has_a_condition(is_missing: bool, reason: str) -> None:
    decision = ConfigDecision(HIGH, "it lowers something", is_missing)
    [condition] = config_conditions(decision, 1)
    assert (condition.type, condition.status, condition.reason) == ("PostgresConfigRefused", "True", reason)
    [component] = config_components(decision)
    assert component.problem == "it lowers something"
    assert config_conditions(ConfigDecision(HIGH), 1) == config_components(ConfigDecision(HIGH)) == []
