"""Postgres settings of a user's ConfigMap, and the copy that servers read."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from steward.kube.cache.hashed_views import hash_data
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import CONFIG_MAP, SECRET, Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api.postgres import PostgresConfig, PostgresOptions
from steward.multigres.api.shard import ShardSpec, ShardStatus
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.servers import Servers
from steward.multigres.controllers.shard.needed_settings import ServerVolumes
from steward.multigres.controllers.shard.postgres_config import (
    PostgresConfigs,
    config_components,
    config_conditions,
)
from steward.multigres.objects.shard_inputs import CONFIG_ANNOTATION
from steward.multigres.objects.versions import FIRST, NEWEST
from steward.multigres.resolution.postgres.settings import restart_digest
from steward.multigres.rollout.postgres_settings import ConfigDecision
from steward.multigres.servers.reports import ServerReport, ShardObservation
from steward.multigres.views import PodView, ShardView
from steward.postgres import settings as postgres_settings
from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import ServerUnreachable
from steward.postgres.setting_values import KnownSetting
from steward.runtime.controller.triggers import Channel
from steward.testkit.clock import FakeClock
from tests.multigres.support.servers import DOWN, PRIMARY, STANDBY

HIGH, LOW = "max_connections = 150", "max_connections = 120"
REFERENCE = PostgresConfig(name="settings", key="conf")
COPY, SOURCE = "s-postgres-config", "settings"


class Settings:
    """ConfigMaps of a namespace, and how often one was read."""

    def __init__(self) -> None:
        self.contents: dict[str, dict[str, str]] = {}
        self.digest: str | None = None
        self.reads = 0
        self.pods: list[PodView] = []
        self.clock = FakeClock()
        context: Any = SimpleNamespace(
            client=self,
            rules=MultigresCacheRules(""),
            store=lambda rule: SimpleNamespace(get=self.cached if rule.kind == CONFIG_MAP else _nothing),
            settings=SimpleNamespace(connect_to=()),
            clock=self.clock,
            servers=Servers(self.clock, Channel()),
            primaries=Primaries(self.clock),
        )
        self.context = context
        self.configs = PostgresConfigs(context)

    def cached(self, key: Key) -> Any:
        data = self.contents.get(key.name)
        return None if data is None else SimpleNamespace(data_hash=hash_data(data))

    async def get(self, kind: Kind, key: Key) -> dict[str, Any]:
        if kind == SECRET:
            return {"data": {"password": "c2VjcmV0"}}
        self.reads += 1
        if key.name not in self.contents:
            raise NotFound.__new__(NotFound)
        metadata = {"annotations": {CONFIG_ANNOTATION: self.digest}} if self.digest is not None else {}
        return {"metadata": metadata if key.name == COPY else {}, "data": self.contents[key.name]}

    async def decide(
        self, reference: Any = REFERENCE, version: int = NEWEST, primary: str = "", **settings: str
    ) -> ConfigDecision:
        options = PostgresOptions(settings=dict(settings)) if settings else UNSET
        spec = ShardSpec(
            shard_name="0", postgres_config_ref=reference, objects_version=version, postgres=options
        )
        status = ShardStatus(primary=primary) if primary else ShardStatus()
        view = ShardView(ObjectMeta(name="s", namespace="shop"), spec, status)
        return await self.configs.decide(view, ServerVolumes(self.pods))

    def observe(self, **reports: ServerReport) -> None:
        """The reports of servers `s_0`, `s_1`, each with a pod."""
        named = {name.replace("_", "-"): report for name, report in reports.items()}
        self.pods = [PodView(ObjectMeta(name=name, namespace="shop")) for name in named]
        observation = ShardObservation(self.clock.monotonic(), {}, named, {})
        self.context.servers.record(Key("shop", "s"), observation, list(named))


def _nothing(key: Key) -> None:
    return None


@pytest.fixture
def settings() -> Settings:
    return Settings()


async def test_the_first_settings_are_taken_over_whatever_they_are(settings: Settings) -> None:
    settings.contents[SOURCE] = {"conf": LOW}
    assert await settings.decide() == ConfigDecision(LOW, digest=restart_digest(LOW))


async def test_raised_settings_are_taken_over_and_lowered_ones_refused(settings: Settings) -> None:
    settings.contents |= {SOURCE: {"conf": HIGH}, COPY: {"postgresql.conf": LOW}}
    assert await settings.decide() == ConfigDecision(HIGH, digest=restart_digest(HIGH))
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


async def test_inline_settings_come_last_because_the_last_line_wins(settings: Settings) -> None:
    settings.contents[SOURCE] = {"conf": LOW}
    decision = await settings.decide(work_mem="8MB", max_connections="200")
    assert decision.text == f"{LOW}\nmax_connections = '200'\nwork_mem = '8MB'\n"


async def test_inline_settings_need_no_configmap(settings: Settings) -> None:
    assert (await settings.decide(UNSET, work_mem="8MB")).text == "work_mem = '8MB'\n"


async def test_a_lowered_inline_setting_is_refused(settings: Settings) -> None:
    settings.contents[COPY] = {"postgresql.conf": "max_connections = '200'\n"}
    decision = await settings.decide(UNSET, max_connections="150")
    assert decision.text == "max_connections = '200'\n"
    assert decision.problem.startswith("the spec lowers max_connections from 200 to 150")


async def test_pods_of_the_first_version_cannot_have_inline_settings(settings: Settings) -> None:
    decision = await settings.decide(UNSET, FIRST, work_mem="8MB")
    assert decision.text is None
    assert "steward updates" in decision.problem


KNOWN = {
    "max_connections": KnownSetting("postmaster", "integer", "", "1", "262143"),
    "shared_buffers": KnownSetting("sighup", "integer", "8kB", "16", "1073741823"),
    "work_mem": KnownSetting("user", "integer", "kB", "64", "2147483647"),
}


@pytest.fixture
def primary(monkeypatch: pytest.MonkeyPatch) -> None:
    """A primary that answers. In contrast to real ones it changes shared_buffers without a restart."""

    async def known(server: object, password: str, names: list[str]) -> dict[str, KnownSetting]:
        assert password == "secret"
        return {name: KNOWN[name] for name in names if name in KNOWN}

    monkeypatch.setattr(postgres_settings, "known_settings", known)


@pytest.mark.parametrize("text", [None, "", LOW], ids=["no-copy", "empty-copy", "copy"])
@pytest.mark.usefixtures("primary")
async def test_a_setting_that_postgres_does_not_know_is_refused_before_any_server_reads_it(
    settings: Settings, text: str | None
) -> None:
    if text is not None:
        settings.contents[COPY] = {"postgresql.conf": text}
    decision = await settings.decide(UNSET, primary="s-0", wrok_mem="8MB", max_connections="120")
    assert decision.text == text
    [condition] = config_conditions(decision, 1)
    assert condition.reason == reasons.SETTINGS_UNKNOWN
    assert "sets wrok_mem (Postgres does not know it)" in condition.message


@pytest.mark.usefixtures("primary")
async def test_the_primary_decides_whether_a_change_needs_a_restart(settings: Settings) -> None:
    settings.contents[COPY], settings.digest = {"postgresql.conf": "shared_buffers = '1GB'\n"}, "recorded"
    assert (await settings.decide(UNSET, primary="s-0", shared_buffers="2GB")).digest == "recorded"
    assert (await settings.decide(UNSET, shared_buffers="2GB")).digest == "recorded", "settled"
    decision = await settings.decide(UNSET, primary="s-0", shared_buffers="2GB", max_connections="200")
    assert decision.digest not in ("", "recorded")


async def test_a_later_process_keeps_the_recorded_digest_without_asking(settings: Settings) -> None:
    settings.contents[COPY], settings.digest = {"postgresql.conf": "max_connections = '200'\n"}, "recorded"
    decision = await settings.decide(UNSET, max_connections="200")
    assert decision == ConfigDecision("max_connections = '200'\n", digest="recorded")


async def test_nothing_is_read_for_a_shard_without_settings(settings: Settings) -> None:
    settings.contents[COPY] = {"postgresql.conf": ""}
    assert await settings.decide(UNSET) == ConfigDecision(None)
    assert settings.reads == 0


async def test_settings_are_taken_over_while_no_primary_can_be_asked(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreachable(*_: object) -> dict[str, KnownSetting]:
        raise ServerUnreachable("no route")

    monkeypatch.setattr(postgres_settings, "known_settings", unreachable)
    assert (await settings.decide(UNSET, primary="s-0", work_mem="8MB")).text == "work_mem = '8MB'\n"


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What `max_connections` is on each server that answers, by pod."""
    found: dict[str, int] = {}

    async def current(server: PostgresAddress, password: str, names: list[str]) -> dict[str, int]:
        pod = server.host.partition(".")[0]
        if pod not in found:
            raise ServerUnreachable("no route")
        return {**dict.fromkeys(names, 0), "max_connections": found[pod]}

    monkeypatch.setattr(postgres_settings, "current_numbers", current)
    return found


async def test_settings_are_lowered_to_what_the_servers_that_run_have(
    settings: Settings, numbers: dict[str, int]
) -> None:
    settings.contents[COPY] = {"postgresql.conf": "max_connections = '5000'\n"}
    settings.observe(s_0=PRIMARY, s_1=STANDBY, s_2=DOWN)
    numbers |= {"s-0": 120, "s-1": 110}
    assert (await settings.decide(UNSET, primary="s-0", max_connections="120")).problem == ""
    refused = await settings.decide(UNSET, primary="s-0", max_connections="119")
    assert "lowers max_connections from 120 to 119" in refused.problem


async def test_a_server_that_runs_and_does_not_answer_keeps_the_settings_until_it_is_known_to_be_down(
    settings: Settings, numbers: dict[str, int]
) -> None:
    settings.contents[COPY] = {"postgresql.conf": "max_connections = '5000'\n"}
    settings.observe(s_0=PRIMARY, s_1=DOWN._replace(is_running=True))
    numbers["s-0"] = 120
    refused = await settings.decide(UNSET, primary="s-0", max_connections="200")
    assert "lowers max_connections from 5000 to 200" in refused.problem
    settings.observe(s_0=PRIMARY, s_1=DOWN)
    assert (await settings.decide(UNSET, primary="s-0", max_connections="200")).problem == ""


async def test_without_a_primary_that_runs_nothing_is_lowered(
    settings: Settings, numbers: dict[str, int]
) -> None:
    settings.contents[COPY] = {"postgresql.conf": "max_connections = '5000'\n"}
    settings.observe(s_0=DOWN, s_1=STANDBY)
    numbers["s-1"] = 120
    assert (await settings.decide(UNSET, primary="s-0", max_connections="200")).is_lowered
