"""Events get lost, come twice or late, streams end, the server asks for patience: all the same world."""

from __future__ import annotations

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, DEPLOYMENT, Ref
from steward.kube.objects.patches import MergePatch
from steward.local.control_plane import ControlPlane
from steward.testkit import (
    Answer,
    AuditLog,
    CutWatch,
    DelayEvents,
    FaultProxy,
    InsertLine,
    LoseEvents,
    Match,
    RepeatEvents,
    Rule,
    gone_event,
)
from steward.testkit.proxy.faults import AnyFault
from tests.runtime.integration.conftest import StartSample
from tests.runtime.integration.support.greetings import NO_ELECTION, World
from tests.runtime.integration.support.sample_controller import NAME

GREETINGS = Match(verb="watch", resource="greetings")
DEPLOYMENTS = Match(verb="watch", resource="deployments")
CONFIG_MAPS = Match(verb="watch", resource="configmaps")


@pytest.mark.parametrize(
    "fault",
    [
        RepeatEvents(times=3),
        DelayEvents(type="MODIFIED"),
        CutWatch(),
        InsertLine("{not json"),
        InsertLine(gone_event()),
    ],
    ids=["repeated", "late", "cut", "garbled", "410 in the stream"],
)
async def test_events_that_come_wrong_make_no_difference(
    world: World, proxy: FaultProxy, start_sample: StartSample, fault: AnyFault
) -> None:
    rules = [proxy.add(Rule(match, fault, count=2)) for match in (GREETINGS, DEPLOYMENTS, CONFIG_MAPS)]
    async with start_sample(proxy, **NO_ELECTION) as sample:
        for name in ("one", "two"):
            await world.greet(name)
        for name in ("one", "two"):
            await world.until_greeted(name)
            await world.change(name, "salut")
            await world.until_greeted(name, "salut")
        assert sample.runs
    assert any(rule.hits for rule in rules)


async def test_a_lost_event_is_made_good_by_the_next_one(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **NO_ELECTION):
        await world.greet("first")
        await world.until_greeted("first")
        lost = proxy.add(Rule(GREETINGS, LoseEvents(type="ADDED", name="hello"), count=1))
        await world.greet("hello", "unheard")
        await lost.until_hit()
        await world.change("hello", "heard")
        await world.until_greeted("hello", "heard")


async def test_a_deletion_that_nobody_told_of_is_seen_by_the_list_after_a_410(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **NO_ELECTION):
        await world.greet("hello")
        await world.until_greeted("hello")
        lost = proxy.add(Rule(CONFIG_MAPS, LoseEvents(type="DELETED"), count=1))
        await world.client.delete(Ref(CONFIG_MAP, world.key("hello")))
        await lost.until_hit()
        assert await world.find(CONFIG_MAP, "hello") is None
        proxy.add(Rule(CONFIG_MAPS, InsertLine(gone_event()), count=1))
        # Any event will do to carry the 410; this one is about an object that is not ours.
        await world.client.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "other", "namespace": world.namespace},
            }
        )
        await world.until_greeted("hello")


async def test_a_watch_that_is_refused_with_410_is_begun_anew(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **NO_ELECTION):
        await world.greet("hello")
        await world.until_greeted("hello")
        refused = proxy.add(Rule(GREETINGS, Answer(410), count=1))
        proxy.cut(GREETINGS)
        await refused.until_hit()
        await world.change("hello", "again")
        await world.until_greeted("hello", "again")


async def test_too_many_requests_are_waited_out(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    busy = proxy.add(Rule(Match(write=True), Answer(429, retry_after=1), count=3))
    await world.greet("hello")
    async with start_sample(proxy, **NO_ELECTION) as sample:
        await world.until_greeted("hello")
        assert "Traceback" not in sample.log
    assert busy.hits == 3


@pytest.mark.parametrize("code", [409, 500, 503, 504])
async def test_a_refused_write_is_tried_again(
    world: World, proxy: FaultProxy, start_sample: StartSample, code: int
) -> None:
    proxy.add(Rule(Match(write=True), Answer(code), first=2, count=3))
    await world.greet("hello")
    async with start_sample(proxy, **NO_ELECTION):
        await world.until_greeted("hello")


async def test_nothing_is_written_while_nothing_changes_and_a_foreign_edit_is_put_back_by_one_write(
    world: World, proxy: FaultProxy, start_sample: StartSample, control_plane: ControlPlane
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    here = world.key("hello").namespace
    await world.greet("hello", replicas=2)
    async with start_sample(proxy, **NO_ELECTION):
        await world.until_greeted("hello", replicas=2)
    mark = await audit.mark()
    async with start_sample(proxy, **NO_ELECTION):
        await world.greet("marker")
        await world.until_greeted("marker")
        calls = (await audit.calls_since(mark)).writes_of(NAME)
        assert not calls.matching(Match(name="hello", namespace=here))
        edit = MergePatch({"spec": {"replicas": 5}})
        await world.client.patch(Ref(DEPLOYMENT, world.key("hello")), edit)
        await world.until_greeted("hello", replicas=2)
        calls = (await audit.calls_since(mark)).writes_of(NAME)
        assert len(calls.matching(Match(name="hello", namespace=here, resource="deployments"))) == 1
