"""Tenants in progress are counted as the API server has them, however stale the cache is, and with few reads."""

from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.options import ListQuery
from steward.tenants import labels
from steward.tenants.api.template import Rollout, TenantTemplateSpec
from steward.tenants.controllers.registry.rollout_progress import MAX_SINGLE_READS
from steward.tenants.controllers.registry.rollouts import RolloutBatch, RolloutHistory, Rollouts
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.tenant_manifest import ActiveTemplate, DesiredTenant
from steward.tenants.sources.rows import Row
from steward.tenants.views import Tenant
from steward.testkit.clock import FakeClock
from tests.tenants.support.manifests import Manifest, template, tenant
from tests.tenants.support.offline_context import offline_context

PROD = ObjectMeta(name="prod", namespace="shop", uid="r")
OLD, NEW = 1, 2
SIX = ("a", "b", "c", "d", "e", "f")


class Fleet:
    """Tenants on a server, and a cache that receives them only when the test says so."""

    def __init__(self, names: tuple[str, ...] = SIX, skew: int = 2) -> None:
        self.context = offline_context(None)
        self.context.clock = self._clock = FakeClock()
        self.context.client = SimpleNamespace(get=self._get, list=self._list)  # type: ignore[assignment]
        self.rollouts = Rollouts(self.context)
        self.tenants: dict[str, Manifest] = {}
        self.reads: list[str] = []
        self.in_progress: frozenset[str] | None = None
        self._version = 0
        self._desired = _desired_tenants(names, skew)
        for name in names:
            self.write(name, OLD)
            self.finish(name)
            self.observe(name)

    async def next_batch(self) -> RolloutBatch:
        statuses = {"web": self.context.rollouts.statuses.get(Key("shop", "web"))}
        found = await self.rollouts.next_batch(
            self._desired, PROD, RolloutHistory(statuses, self.in_progress)
        )
        self.in_progress = found.in_progress
        return found

    async def chosen(self) -> list[str]:
        """Names of the Tenants that get the new version now."""
        write = (each.name for each in (await self.next_batch()).write)
        return [name for name in write if not self.has_new(name)]

    def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)

    def really_in_progress(self) -> set[str]:
        return {name for name in self.tenants if self.has_new(name) and not self.tenants[name].get("status")}

    def has_new(self, name: str) -> bool:
        return bool(self.tenants[name]["spec"]["templateGeneration"] == NEW)

    def write(self, name: str, generation: int = NEW) -> None:
        spec = {"uid": name, "templateRef": "web", "templateGeneration": generation}
        metadata = {"namespace": "shop", "uid": name, "labels": {labels.REGISTRY: "prod"}}
        self._set({**tenant(name), "spec": spec}, {**metadata, "generation": generation})

    def finish(self, name: str) -> None:
        found = self.tenants[name]
        ready = {"type": "Ready", "status": "True"}
        status = {"observedGeneration": found["metadata"]["generation"], "conditions": [ready]}
        self._set({**found, "status": status}, {})

    def fail(self, name: str) -> None:
        self._set({**self.tenants[name], "status": {}}, {})

    def observe(self, *names: str) -> None:
        for name in names:
            store = self.context.store(self.context.rules.every_tenant)
            store.observe_write(msgspec.json.encode(self.tenants[name]))

    def _set(self, found: Manifest, metadata: Manifest) -> None:
        self._version += 1
        whole = {**found["metadata"], **metadata, "resourceVersion": str(self._version)}
        self.tenants[whole["name"]] = {**found, "metadata": whole}

    async def _get(self, kind: Kind, key: Key, view: type[Tenant]) -> Tenant:
        self.reads.append(key.name)
        if key.name not in self.tenants:
            raise NotFound(404, "NotFound", "not found", {})
        return msgspec.convert(self.tenants[key.name], view)

    async def _list(self, kind: Kind, query: ListQuery, view: type[Tenant]) -> SimpleNamespace:
        self.reads.append("all")
        return SimpleNamespace(items=[msgspec.convert(found, view) for found in self.tenants.values()])


def _desired_tenants(names: tuple[str, ...], skew: int) -> list[DesiredTenant]:
    spec = msgspec.convert(template(rollout={"maxSkew": skew})["spec"], TenantTemplateSpec)
    assert spec.rollout == Rollout(max_skew=skew)
    active = ActiveTemplate("web", NEW, "v2", spec, prepare_template(spec))
    return [DesiredTenant(name, Row(name, f"{name}.example.com", "1", {}), active) for name in names]


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


async def test_all_tenants_are_listed_once_in_a_leadership_term(fleet: Fleet) -> None:
    fleet.write("d")
    assert await fleet.chosen() == ["a"]
    assert await fleet.chosen() == ["a"]
    assert fleet.reads.count("all") == 1
    fleet.in_progress = None
    assert await fleet.chosen() == ["a"]
    assert fleet.reads.count("all") == 2


async def test_a_write_whose_answer_is_lost_counts(fleet: Fleet) -> None:
    assert await fleet.chosen() == ["a", "b"]
    fleet.write("a")
    fleet.write("b")
    assert await fleet.chosen() == []
    assert sorted(fleet.reads) == ["a", "all", "b"]


async def test_a_write_that_never_arrived_is_repeated(fleet: Fleet) -> None:
    assert await fleet.chosen() == ["a", "b"]
    fleet.write("b")
    fleet.observe("b")
    assert await fleet.chosen() == ["a"]


async def test_the_cache_alone_frees_no_slot(fleet: Fleet) -> None:
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.finish(name)
        fleet.observe(name)
        fleet.fail(name)
    assert await fleet.chosen() == []


async def test_a_finished_tenant_is_read_once_and_an_idle_fleet_is_not_read(fleet: Fleet) -> None:
    while chosen := await fleet.chosen():
        for name in chosen:
            fleet.write(name)
            fleet.finish(name)
            fleet.observe(name)
    assert sorted(fleet.reads) == ["a", "all", "b", "c", "d", "e", "f"]
    fleet.reads.clear()
    assert not (await fleet.next_batch()).is_unfinished
    assert fleet.reads == []


async def test_many_tenants_that_finish_together_are_listed() -> None:
    names = tuple(f"t{number:03}" for number in range(MAX_SINGLE_READS + 2))
    fleet = Fleet(names, skew=len(names) - 1)
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.finish(name)
        fleet.observe(name)
    assert await fleet.chosen() == [names[-1]]
    assert fleet.reads == ["all", "all"]


async def test_a_stale_cache_does_not_fail_a_rollout(
    fleet: Fleet,
) -> None:
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.observe(name)
        fleet.finish(name)
    await fleet.next_batch()
    fleet.advance(3600.0)
    assert (await fleet.next_batch()).is_unfinished
    fleet.observe("a", "b")
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.observe(name)
    await fleet.next_batch()
    fleet.advance(3600.0)
    assert not (await fleet.next_batch()).is_unfinished
    fleet.reads.clear()
    await fleet.next_batch()
    assert fleet.reads == []


async def test_a_deleted_tenant_takes_no_slot(fleet: Fleet) -> None:
    await fleet.next_batch()
    del fleet.tenants["a"]
    found = await fleet.next_batch()
    assert [each.name for each in found.write] == ["a", "b"]


async def test_without_a_limit_no_tenant_is_read() -> None:
    fleet = Fleet(skew=0)
    assert await fleet.chosen() == list(SIX)
    assert fleet.reads == []
    assert fleet.in_progress is None


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["batch", "finish", "fail", "observe", "crash"]), st.sampled_from(SIX), st.booleans()
    ),
    max_size=60,
)


@settings(deadline=None)
@given(ACTIONS, st.integers(1, 3))
async def test_however_stale_the_cache_no_more_than_the_limit_are_in_progress(
    actions: list[tuple[str, str, bool]], skew: int
) -> None:
    fleet = Fleet(skew=skew)
    for action, name, is_answered in actions:
        if action == "batch":
            for chosen in await fleet.chosen():
                fleet.write(chosen)
                if is_answered:
                    fleet.observe(chosen)
        elif action == "finish" and name in fleet.really_in_progress():
            fleet.finish(name)
        elif action == "fail" and not fleet.has_new(name):
            fleet.fail(name)
        elif action == "observe":
            fleet.observe(name)
        elif action == "crash":
            fleet.in_progress = None
        assert len(fleet.really_in_progress()) <= skew
