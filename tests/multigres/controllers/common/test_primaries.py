"""What is known of a shard's primary, and how long it may be believed."""

from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.common.primaries import (
    CLOSE_SECONDS,
    FRESH_SECONDS,
    SILENT_SECONDS,
    Primaries,
    Sighting,
)
from steward.multigres.controllers.shard.pod_rollout import Rolling, RollingChanges
from steward.multigres.deletion.primary_handover import Word
from steward.multigres.rollout.pods import REVISION
from steward.multigres.topology.store_records import PoolerRecord
from steward.multigres.views import (
    PodCondition,
    PodStatus,
    PodView,
    ShardView,
    StatefulSetSpec,
    StatefulSetView,
    WorkloadStatus,
)
from steward.runtime.plan.steps import Delete
from steward.testkit import FakeClock

SHARD = Key("shop", "s")
LEADER = PoolerRecord("z1", "a-0", "a-0.a.shop.svc", "db", "tg", "0", True, 2)


def test_nobody_is_known_to_lead_a_shard_that_was_never_looked_at() -> None:
    assert Primaries(FakeClock()).sighting_since(SHARD, 0.0) is None


def test_the_last_look_is_believed_for_a_while() -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    seen = Sighting(LEADER, clock.monotonic())
    primaries.saw(SHARD, seen)
    assert primaries.sighting_since(SHARD, clock.monotonic()) == seen
    clock.advance(FRESH_SECONDS + 1)
    assert primaries.sighting_since(SHARD, 0.0) is None


def test_a_look_that_began_before_the_moment_in_question_does_not_count() -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    primaries.saw(SHARD, Sighting(LEADER, clock.monotonic()))
    assert primaries.sighting_since(SHARD, clock.monotonic() + 0.1) is None


def test_a_look_that_found_nobody_takes_the_place_of_one_that_did() -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    primaries.saw(SHARD, Sighting(LEADER, clock.monotonic()))
    nobody = Sighting(None, clock.monotonic())
    primaries.saw(SHARD, nobody)
    assert primaries.sighting_since(SHARD, 0.0) == nobody


@pytest.mark.parametrize(
    ("age", "is_answered", "is_asked"),
    [
        (CLOSE_SECONDS / 2, True, False),
        (CLOSE_SECONDS * 2, True, True),
        (CLOSE_SECONDS * 2, False, False),
        (SILENT_SECONDS * 2, False, True),
    ],
)
def test_the_topology_is_asked_again_once_the_last_look_is_not_of_just_now(
    age: float, is_answered: bool, is_asked: bool
) -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    asked: list[Key] = []
    primaries.asked.connect(lambda key, lane: asked.append(key))
    primaries.saw(SHARD, Sighting(None, clock.monotonic(), is_answered=is_answered))
    clock.advance(age)
    primaries.ask(SHARD, "mini", moment=0.0)
    assert asked == [Key("shop", "mini")] * is_asked


def test_a_look_from_before_the_moment_in_question_is_asked_for_again_at_once() -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    asked: list[Key] = []
    primaries.asked.connect(lambda key, lane: asked.append(key))
    primaries.ask(SHARD, "mini", moment=clock.monotonic())
    primaries.saw(SHARD, Sighting(LEADER, clock.monotonic()))
    primaries.ask(SHARD, "mini", moment=clock.monotonic() + 0.1)
    assert asked == [Key("shop", "mini")] * 2


class Shop:
    """A shard of two servers of an old revision, with the clock and the register that its controller uses."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.primaries = Primaries(self.clock)
        status = WorkloadStatus(observed_generation=1, update_revision="new")
        seen = StatefulSetView(ObjectMeta(name="a", generation=1), StatefulSetSpec(2), status)
        store = SimpleNamespace(get=lambda key: seen)
        context: Any = SimpleNamespace(
            clock=self.clock,
            primaries=self.primaries,
            rules=SimpleNamespace(stateful_set=None),
            store=lambda rule: store,
        )
        self.changes = RollingChanges(context)

    def see(self, primary: PoolerRecord | None = LEADER) -> None:
        self.primaries.saw(SHARD, Sighting(primary, self.clock.monotonic()))

    def look(self, *pods: PodView) -> Rolling:
        shard = ShardView(
            ObjectMeta(name="s", namespace="shop"), ShardSpec(shard_name="0", pools={"p": Pool()})
        )
        metadata = {"name": "a", "namespace": "shop", "labels": {"multigres.com/pool": "p"}}
        desired = [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": 2}}
        ]
        return self.changes.look(shard, desired, pods)

    def replaced(self, *pods: PodView) -> str | None:
        steps = self.look(*pods).steps("shop")
        return next((step.ref.key.name for step in steps if isinstance(step, Delete)), None)


def server(name: str, uid: str = "", revision: str = "old") -> PodView:
    ready = PodStatus(conditions=(PodCondition("Ready", "True"),))
    return PodView(ObjectMeta(name=name, uid=uid or name, labels={REVISION: revision}), ready)


OLD = (server("a-0"), server("a-1"))


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_a_pod_goes_once_a_look_after_the_last_change_of_pods_says_who_leads(shop: Shop) -> None:
    assert shop.replaced(*OLD) is None
    shop.clock.advance(1)
    shop.see()
    assert shop.replaced(*OLD) == "a-1"


def test_what_was_seen_before_a_pod_changed_counts_no_longer(shop: Shop) -> None:
    shop.replaced(*OLD)
    shop.clock.advance(1)
    shop.see()
    shop.clock.advance(1)
    changed = (OLD[0], server("a-1", uid="the next", revision="new"))
    # a-0 led before a-1 was replaced: it may not lead any more, and is not evicted on the strength of that.
    assert shop.replaced(*changed) is None
    shop.clock.advance(1)
    shop.see()
    assert shop.replaced(*changed) == "a-0"


def test_a_primary_that_no_pod_is_known_for_is_no_knowledge(shop: Shop) -> None:
    shop.replaced(*OLD)
    shop.clock.advance(1)
    shop.see(LEADER._replace(name="elsewhere", hostname="elsewhere"))
    assert shop.replaced(*OLD) is None


def test_an_eviction_that_a_budget_forbade_is_told(shop: Shop) -> None:
    shop.replaced(*OLD)
    shop.clock.advance(1)
    shop.see()
    rolling = shop.look(*OLD)
    shop.changes.remember(SHARD, rolling.steps("shop"))
    told = shop.look(*OLD).verdict
    assert (told.reason, told.replace) == ("DisruptionBudgetForbids", rolling.verdict.replace)
    shop.changes.remember(SHARD, ())
    assert shop.look(*OLD).verdict.reason == "Rolling"


def test_what_the_topology_said_of_the_pods_is_handed_on(shop: Shop) -> None:
    assert shop.look(*OLD).succession.word is None
    shop.clock.advance(1)
    shop.primaries.saw(SHARD, Sighting(LEADER, shop.clock.monotonic(), [LEADER]))
    assert shop.look(*OLD).succession.word == Word(True, frozenset({"a-0"}))
    shop.primaries.saw(SHARD, Sighting(None, shop.clock.monotonic(), is_answered=False))
    assert shop.look(*OLD).succession.word == Word(is_answered=False)


@pytest.mark.parametrize(("revision", "matters"), [("old", True), ("new", False)])
def test_who_leads_matters_while_pods_are_to_go(shop: Shop, revision: str, matters: bool) -> None:
    pods = (server("a-0", revision=revision), server("a-1", revision=revision))
    assert shop.look(*pods).must_know is matters
