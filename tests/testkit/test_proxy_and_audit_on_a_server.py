"""The proxy and the audit reader in front of a real API server."""

import asyncio
import ssl
import uuid

import aiohttp
import msgspec
import pytest

from steward.testkit import Answer, AuditLog, FaultProxy, LoseReply, Match, RepeatEvents, Rule


@pytest.fixture
async def proxy(control_plane):
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        yield proxy


@pytest.fixture
def agent():
    return f"kit-{uuid.uuid4().hex[:8]}"


@pytest.fixture
async def client(proxy, agent):
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=proxy.authority))
    async with aiohttp.ClientSession(
        proxy.url, connector=connector, headers={"User-Agent": agent}
    ) as session:
        yield session


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}}


async def create(client, namespace, name, query=""):
    path = f"/api/v1/namespaces/{namespace}/configmaps{query}"
    async with client.post(path, json=config_map(name)) as reply:
        return reply.status


async def test_a_write_with_a_lost_reply_is_in_the_audit_log(client, proxy, control_plane, namespace, agent):
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    proxy.add(Rule(Match(verb="create", resource="configmaps", name=""), LoseReply(), count=1))
    with pytest.raises(aiohttp.ClientError):
        await create(client, namespace, "one")
    assert await create(client, namespace, "one") == 409
    assert await create(client, namespace, "two", "?dryRun=All") == 201
    calls = (await audit.calls_since(mark)).matching(Match(user_agent=agent, resource="configmaps"))
    assert [(item.code, item.call.dry_run, item.user != "") for item in calls] == [
        (201, False, True),
        (409, False, True),
        (201, True, True),
    ]
    assert len(calls.writes_of(agent)) == 2


async def test_calls_that_the_proxy_answers_never_reach_the_server(
    client, proxy, control_plane, namespace, agent
):
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    proxy.add(Rule(Match(verb="create"), Answer(503)))
    assert await create(client, namespace, "one") == 503
    assert not (await audit.calls_since(mark)).writes_of(agent)


async def test_watch_events_of_the_real_server_are_repeated(client, proxy, namespace):
    proxy.add(Rule(Match(verb="watch", resource="configmaps"), RepeatEvents(name="one")))
    async with client.get(f"/api/v1/namespaces/{namespace}/configmaps?watch=true&resourceVersion=0") as watch:
        assert await create(client, namespace, "one") == 201
        names = []
        while names.count("one") < 2:
            event = msgspec.json.decode(await watch.content.readline())
            names.append(event["object"]["metadata"]["name"])
        assert names[-2:] == ["one", "one"]


async def test_a_watch_counts_as_one_call_while_it_is_still_open(client, control_plane, namespace, agent):
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    async with client.get(f"/api/v1/namespaces/{namespace}/secrets?watch=true&resourceVersion=0"):
        open_calls = await audit.calls_since(mark)
        assert len(open_calls.matching(Match(verb="watch", user_agent=agent))) == 1


async def test_many_concurrent_calls_are_forwarded(client, proxy, namespace, agent):
    codes = await asyncio.gather(*(create(client, namespace, f"c{number}") for number in range(50)))
    assert set(codes) == {201}
    assert len(list(proxy.calls(Match(user_agent=agent, write=True)))) == 50
