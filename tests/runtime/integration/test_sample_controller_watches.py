"""Watch events are lost, repeated or late, streams end, the server throttles: the result is the same."""

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
from tests.runtime.integration.support.greetings import NO_ELECTION, GreetingClient, StartSample
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
async def test_wrong_watch_events_make_no_difference(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, fault: AnyFault
) -> None:
    rules = [proxy.add(Rule(match, fault, count=2)) for match in (GREETINGS, DEPLOYMENTS, CONFIG_MAPS)]
    async with start_sample(proxy, **NO_ELECTION) as sample:
        for name in ("one", "two"):
            await greetings.create(name)
        for name in ("one", "two"):
            await greetings.wait_until_reconciled(name)
            await greetings.change(name, "salut")
            await greetings.wait_until_reconciled(name, "salut")
        assert sample.runs
    assert any(rule.hits for rule in rules)


async def test_a_lost_watch_event_is_recovered_by_the_next_one(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.create("first")
        await greetings.wait_until_reconciled("first")
        lost = proxy.add(Rule(GREETINGS, LoseEvents(type="ADDED", name="hello"), count=1))
        await greetings.create("hello", "unheard")
        await lost.until_hit()
        await greetings.change("hello", "heard")
        await greetings.wait_until_reconciled("hello", "heard")


async def test_a_missed_deletion_is_found_by_the_list_after_a_410(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.create("hello")
        await greetings.wait_until_reconciled("hello")
        lost = proxy.add(Rule(CONFIG_MAPS, LoseEvents(type="DELETED"), count=1))
        await greetings.client.delete(Ref(CONFIG_MAP, greetings.key("hello")))
        await lost.until_hit()
        assert await greetings.find(CONFIG_MAP, "hello") is None
        proxy.add(Rule(CONFIG_MAPS, InsertLine(gone_event()), count=1))
        # Any event can be replaced by the 410; this one is of a foreign object.
        await greetings.client.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "other", "namespace": greetings.namespace},
            }
        )
        await greetings.wait_until_reconciled("hello")


async def test_a_watch_that_fails_with_410_is_started_again(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.create("hello")
        await greetings.wait_until_reconciled("hello")
        refused = proxy.add(Rule(GREETINGS, Answer(410), count=1))
        proxy.cut(GREETINGS)
        await refused.until_hit()
        await greetings.change("hello", "again")
        await greetings.wait_until_reconciled("hello", "again")


async def test_too_many_requests_are_retried_after_the_requested_time(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    busy = proxy.add(Rule(Match(write=True), Answer(429, retry_after=1), count=3))
    await greetings.create("hello")
    async with start_sample(proxy, **NO_ELECTION) as sample:
        await greetings.wait_until_reconciled("hello")
        assert "Traceback" not in sample.log
    assert busy.hits == 3


@pytest.mark.parametrize("code", [409, 500, 503, 504])
async def test_a_rejected_write_is_retried(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, code: int
) -> None:
    proxy.add(Rule(Match(write=True), Answer(code), first=2, count=3))
    await greetings.create("hello")
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.wait_until_reconciled("hello")


async def test_nothing_is_written_while_nothing_changes_and_a_foreign_edit_is_repaired_by_one_write(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, control_plane: ControlPlane
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    here = greetings.key("hello").namespace
    await greetings.create("hello", replicas=2)
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.wait_until_reconciled("hello", replicas=2)
    mark = await audit.mark()
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.create("marker")
        await greetings.wait_until_reconciled("marker")
        calls = (await audit.calls_since(mark)).writes_of(NAME)
        assert not calls.matching(Match(name="hello", namespace=here))
        edit = MergePatch({"spec": {"replicas": 5}})
        await greetings.client.patch(Ref(DEPLOYMENT, greetings.key("hello")), edit)
        await greetings.wait_until_reconciled("hello", replicas=2)
        calls = (await audit.calls_since(mark)).writes_of(NAME)
        assert len(calls.matching(Match(name="hello", namespace=here, resource="deployments"))) == 1
