"""Who is under way is told by the API server, however late the cache is; and little is asked for it."""

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
from steward.tenants.controllers.registry.rollout_progress import ONE_BY_ONE
from steward.tenants.controllers.registry.rollouts import Past, Rollouts, Turn
from steward.tenants.rendering.render import prepare_template
from steward.tenants.rendering.tenant_manifest import TemplateInUse, WantedTenant
from steward.tenants.sources.rows import Row
from steward.tenants.views import Tenant
from steward.testkit.clock import FakeClock
from tests.tenants.support.manifests import Manifest, template, tenant
from tests.tenants.support.offline_context import ground_with

PROD = ObjectMeta(name="prod", namespace="shop", uid="r")
OLD, NEW = 1, 2
SIX = ("a", "b", "c", "d", "e", "f")


class Fleet:
    """Tenants on a server, and a cache that learns of them only when it is told to."""

    def __init__(self, names: tuple[str, ...] = SIX, skew: int = 2) -> None:
        self.context = ground_with(None)
        self.context.clock = self._clock = FakeClock()
        self.context.client = SimpleNamespace(get=self._get, list=self._list)  # type: ignore[assignment]
        self.rollouts = Rollouts(self.context)
        self.tenants: dict[str, Manifest] = {}
        self.asked: list[str] = []
        self.under_way: frozenset[str] | None = None
        self._version = 0
        self._wanted = _wanted(names, skew)
        for name in names:
            self.write(name, OLD)
            self.finish(name)
            self.show(name)

    async def turn(self) -> Turn:
        statuses = {"web": self.context.rollouts.get(Key("shop", "web"))}
        found = await self.rollouts.turn(self._wanted, PROD, Past(statuses, self.under_way))
        self.under_way = found.under_way
        return found

    async def chosen(self) -> list[str]:
        """Those that get the new version now."""
        write = (each.name for each in (await self.turn()).write)
        return [name for name in write if not self.has_new(name)]

    def let_pass(self, seconds: float) -> None:
        self._clock.advance(seconds)

    def truly_under_way(self) -> set[str]:
        return {name for name in self.tenants if self.has_new(name) and not self.tenants[name].get("status")}

    def has_new(self, name: str) -> bool:
        return bool(self.tenants[name]["spec"]["templateGeneration"] == NEW)

    def write(self, name: str, generation: int = NEW) -> None:
        spec = {"uid": name, "templateRef": "web", "templateGeneration": generation}
        metadata = {"namespace": "shop", "uid": name, "labels": {labels.REGISTRY: "prod"}}
        self._put({**tenant(name), "spec": spec}, {**metadata, "generation": generation})

    def finish(self, name: str) -> None:
        found = self.tenants[name]
        ready = {"type": "Ready", "status": "True"}
        told = {"observedGeneration": found["metadata"]["generation"], "conditions": [ready]}
        self._put({**found, "status": told}, {})

    def fail(self, name: str) -> None:
        self._put({**self.tenants[name], "status": {}}, {})

    def show(self, *names: str) -> None:
        for name in names:
            store = self.context.store(self.context.rules.every_tenant)
            store.observe(msgspec.json.encode(self.tenants[name]))

    def _put(self, found: Manifest, metadata: Manifest) -> None:
        self._version += 1
        whole = {**found["metadata"], **metadata, "resourceVersion": str(self._version)}
        self.tenants[whole["name"]] = {**found, "metadata": whole}

    async def _get(self, kind: Kind, key: Key, view: type[Tenant]) -> Tenant:
        self.asked.append(key.name)
        if key.name not in self.tenants:
            raise NotFound(404, "NotFound", "it is gone", {})
        return msgspec.convert(self.tenants[key.name], view)

    async def _list(self, kind: Kind, query: ListQuery, view: type[Tenant]) -> SimpleNamespace:
        self.asked.append("all")
        return SimpleNamespace(items=[msgspec.convert(found, view) for found in self.tenants.values()])


def _wanted(names: tuple[str, ...], skew: int) -> list[WantedTenant]:
    spec = msgspec.convert(template(rollout={"maxSkew": skew})["spec"], TenantTemplateSpec)
    assert spec.rollout == Rollout(max_skew=skew)
    in_use = TemplateInUse("web", NEW, "v2", spec, prepare_template(spec))
    return [WantedTenant(name, Row(name, f"{name}.example.com", "1", {}), in_use) for name in names]


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


async def test_all_are_listed_once_in_a_term(fleet: Fleet) -> None:
    fleet.write("d")
    assert await fleet.chosen() == ["a"]
    assert await fleet.chosen() == ["a"]
    assert fleet.asked.count("all") == 1
    fleet.under_way = None
    assert await fleet.chosen() == ["a"]
    assert fleet.asked.count("all") == 2


async def test_a_write_whose_answer_is_lost_counts(fleet: Fleet) -> None:
    assert await fleet.chosen() == ["a", "b"]
    fleet.write("a")
    fleet.write("b")
    assert await fleet.chosen() == []
    assert sorted(fleet.asked) == ["a", "all", "b"]


async def test_a_write_that_never_arrived_is_made_again(fleet: Fleet) -> None:
    assert await fleet.chosen() == ["a", "b"]
    fleet.write("b")
    fleet.show("b")
    assert await fleet.chosen() == ["a"]


async def test_the_cache_alone_frees_no_slot(fleet: Fleet) -> None:
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.finish(name)
        fleet.show(name)
        fleet.fail(name)
    assert await fleet.chosen() == []


async def test_who_has_finished_is_asked_for_once_and_at_rest_nobody_is(fleet: Fleet) -> None:
    while chosen := await fleet.chosen():
        for name in chosen:
            fleet.write(name)
            fleet.finish(name)
            fleet.show(name)
    assert sorted(fleet.asked) == ["a", "all", "b", "c", "d", "e", "f"]
    fleet.asked.clear()
    assert not (await fleet.turn()).waits
    assert fleet.asked == []


async def test_many_that_finish_together_are_listed() -> None:
    names = tuple(f"t{number:03}" for number in range(ONE_BY_ONE + 2))
    fleet = Fleet(names, skew=len(names) - 1)
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.finish(name)
        fleet.show(name)
    assert await fleet.chosen() == [names[-1]]
    assert fleet.asked == ["all", "all"]


async def test_a_rollout_fails_by_the_word_of_the_server_and_not_because_the_cache_is_late(
    fleet: Fleet,
) -> None:
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.show(name)
        fleet.finish(name)
    await fleet.turn()
    fleet.let_pass(3600.0)
    assert (await fleet.turn()).waits
    fleet.show("a", "b")
    for name in await fleet.chosen():
        fleet.write(name)
        fleet.show(name)
    await fleet.turn()
    fleet.let_pass(3600.0)
    assert not (await fleet.turn()).waits
    fleet.asked.clear()
    await fleet.turn()
    assert fleet.asked == []


async def test_a_tenant_that_is_gone_takes_no_slot(fleet: Fleet) -> None:
    await fleet.turn()
    del fleet.tenants["a"]
    found = await fleet.turn()
    assert [each.name for each in found.write] == ["a", "b"]


async def test_without_a_limit_nobody_is_asked_for() -> None:
    fleet = Fleet(skew=0)
    assert await fleet.chosen() == list(SIX)
    assert fleet.asked == []
    assert fleet.under_way is None


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["turn", "finish", "fail", "show", "crash"]), st.sampled_from(SIX), st.booleans()
    ),
    max_size=60,
)


@settings(deadline=None)
@given(ACTS, st.integers(1, 3))
async def test_however_late_the_cache_no_more_than_the_limit_are_truly_under_way(
    acts: list[tuple[str, str, bool]], skew: int
) -> None:
    fleet = Fleet(skew=skew)
    for act, name, is_answered in acts:
        if act == "turn":
            for chosen in await fleet.chosen():
                fleet.write(chosen)
                if is_answered:
                    fleet.show(chosen)
        elif act == "finish" and name in fleet.truly_under_way():
            fleet.finish(name)
        elif act == "fail" and not fleet.has_new(name):
            fleet.fail(name)
        elif act == "show":
            fleet.show(name)
        elif act == "crash":
            fleet.under_way = None
        assert len(fleet.truly_under_way()) <= skew
