import asyncio
import io
import ssl

import aiohttp
import msgspec
import pytest

from steward.testkit import (
    Answer,
    Cut,
    CutWatch,
    Delay,
    DelayEvents,
    Drop,
    FakeClock,
    FaultProxy,
    Hold,
    HoldReply,
    HoldWatch,
    InsertLine,
    LoseEvents,
    LoseReply,
    Match,
    RepeatEvents,
    Rule,
    gone_event,
)
from steward.testkit.proxy.upstream import read_upstream

POD = "/api/v1/namespaces/a/pods/p"
WATCH = "/api/v1/pods?watch=true&resourceVersion=5"
WRITES = Match(write=True)
WATCHES = Match(verb="watch", resource="pods")


async def read_events(reply: aiohttp.ClientResponse, count: int) -> list[str]:
    events = []
    for _ in range(count):
        line = await reply.content.readline()
        event = msgspec.json.decode(line) if line.startswith(b"{") else {"type": line.decode().strip()}
        events.append(
            f"{event['type']} {event.get('object', {}).get('metadata', {}).get('name', '')}".strip()
        )
    return events


async def test_without_rules_a_call_is_forwarded_unchanged(client, fake_api_server, proxy):
    path = "/api/v1/pods?labelSelector=a%3Db&limit=500"
    async with client.post(path, data=b'{"x":1}', headers={"Content-Type": "application/json"}) as reply:
        assert reply.status == 201
        assert await reply.json() == {"got": '{"x":1}', "path": path}
    assert fake_api_server.received == [("POST", path)]
    (recorded,) = proxy.recorded
    assert (recorded.code, recorded.upstream_code, recorded.fault, recorded.body) == (
        201,
        201,
        "",
        b'{"x":1}',
    )
    assert (recorded.call.verb, recorded.call.user_agent) == ("create", "tester")


async def test_a_client_without_credentials_acts_as_the_kubeconfigs_user(client, fake_api_server):
    async with client.get(POD):
        assert fake_api_server.identities == ["admin"]


async def test_a_client_with_a_token_keeps_its_identity(client, fake_api_server):
    async with client.get(POD, headers={"Authorization": "Bearer own"}):
        assert fake_api_server.identities == ["Bearer own"]


async def test_a_kubeconfig_with_its_own_token_can_be_written(proxy, tmp_path):
    path = proxy.write_kubeconfig(tmp_path / "as-someone", token="own")
    assert read_upstream(path).token == "own"
    assert read_upstream(path).url == proxy.url
    assert path.stat().st_mode & 0o077 == 0


async def test_a_dropped_request_never_reaches_the_server(client, fake_api_server, proxy):
    proxy.add(Rule(WRITES, Drop(), first=2, count=1))
    async with client.patch(POD, data=b"1"):
        pass
    with pytest.raises(aiohttp.ClientError):
        await client.patch(POD, data=b"2")
    async with client.patch(POD, data=b"3") as reply:
        assert (await reply.json())["got"] == "3"
    assert len(fake_api_server.received) == 2
    assert [recorded.code for recorded in proxy.calls(WRITES)] == [201, 0, 201]


async def test_a_write_with_a_lost_reply_is_committed(client, fake_api_server, proxy):
    proxy.add(Rule(WRITES, LoseReply(), count=1))
    with pytest.raises(aiohttp.ClientError):
        await client.patch(POD, data=b"1")
    assert fake_api_server.received == [("PATCH", POD)]
    (recorded,) = proxy.recorded
    assert (recorded.code, recorded.upstream_code, recorded.fault) == (0, 201, "LoseReply")


async def test_a_reply_is_cut_after_a_number_of_bytes(client, proxy):
    proxy.add(Rule(Match(), Cut(after=4), count=1))
    async with client.get(POD) as reply:
        assert reply.status == 201
        assert await reply.content.readexactly(4) == b'{"go'
        with pytest.raises(aiohttp.ClientError):
            await reply.read()


async def test_a_scripted_answer_is_not_forwarded(client, fake_api_server, proxy):
    proxy.add(Rule(Match(verb="patch"), Answer(429, retry_after=2), count=1))
    async with client.patch(POD) as reply:
        assert (reply.status, reply.headers["Retry-After"]) == (429, "2")
        assert (await reply.json())["reason"] == "TooManyRequests"
    assert fake_api_server.received == []


async def test_a_delay_waits_on_the_proxys_clock(fake_api_server):
    clock = FakeClock()
    async with FaultProxy(fake_api_server.kubeconfig, clock) as proxy:
        proxy.add(Rule(Match(), Delay(30)))
        connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=proxy.authority))
        async with aiohttp.ClientSession(proxy.url, connector=connector) as client:
            call = asyncio.create_task(client.get(POD))
            await clock.until_asleep()
            assert fake_api_server.received == []
            clock.advance(30)
            (await call).release()
    assert fake_api_server.received == [("GET", POD)]


async def test_a_held_request_is_forwarded_when_the_rule_is_removed(client, fake_api_server, proxy):
    rule = proxy.add(Rule(WRITES, Hold()))
    call = asyncio.create_task(client.patch(POD))
    await rule.held.wait()
    assert fake_api_server.received == []
    proxy.remove(rule)
    (await call).release()
    assert fake_api_server.received == [("PATCH", POD)]


async def test_a_held_reply_is_sent_when_the_rule_is_removed(client, fake_api_server, proxy):
    rule = proxy.add(Rule(WRITES, HoldReply()))
    call = asyncio.create_task(client.patch(POD))
    await rule.held.wait()
    assert (fake_api_server.received, call.done()) == ([("PATCH", POD)], False)
    proxy.remove(rule)
    async with await call as reply:
        assert reply.status == 201


async def test_a_held_request_is_not_forwarded_after_its_client_disconnects(client, fake_api_server, proxy):
    rule = proxy.add(Rule(WRITES, Hold()))
    call = asyncio.create_task(client.patch(POD))
    await rule.held.wait()
    call.cancel()
    await proxy.until_idle(WRITES)
    proxy.remove(rule)
    async with client.get(POD):
        assert fake_api_server.received == [("GET", POD)]


async def test_watch_events_are_forwarded_unbuffered(client, fake_api_server):
    async with client.get(WATCH) as reply:
        for name in ("a", "b"):
            fake_api_server.send("ADDED", name)
            assert await read_events(reply, 1) == [f"ADDED {name}"]
        fake_api_server.events.put_nowait(None)
        assert await reply.read() == b""


@pytest.mark.parametrize("rules", [[], [Rule(WATCHES, LoseEvents(name="none"))]])
async def test_a_line_in_two_chunks_is_forwarded_complete(client, fake_api_server, proxy, rules):
    for rule in rules:
        proxy.add(rule)
    async with client.get(WATCH) as reply:
        fake_api_server.events.put_nowait(b'{"type":"ADDED","obj')
        await asyncio.sleep(0.01)
        fake_api_server.events.put_nowait(b'ect":{"metadata":{"name":"a"}}}\n')
        assert await read_events(reply, 1) == ["ADDED a"]


@pytest.mark.parametrize(
    ("fault", "got"),
    [
        (LoseEvents(name="b"), ["ADDED a", "ADDED c"]),
        (RepeatEvents(name="b"), ["ADDED a", "ADDED b", "ADDED b", "ADDED c"]),
        (DelayEvents(name="a"), ["ADDED b", "ADDED a", "ADDED c"]),
        (InsertLine("not an event", name="b"), ["ADDED a", "not an event", "ADDED b", "ADDED c"]),
        (InsertLine(gone_event(), name="b"), ["ADDED a", "ERROR", "ADDED b", "ADDED c"]),
    ],
)
async def test_watch_faults_apply_to_events(client, fake_api_server, proxy, fault, got):
    proxy.add(Rule(WATCHES, fault))
    async with client.get(WATCH) as reply:
        for name in "abc":
            fake_api_server.send("ADDED", name)
        assert await read_events(reply, len(got)) == got


async def test_a_rule_applies_to_watches_that_are_already_open(client, fake_api_server, proxy):
    async with client.get(WATCH) as reply:
        fake_api_server.send("ADDED", "a")
        assert await read_events(reply, 1) == ["ADDED a"]
        rule = proxy.add(Rule(WATCHES, LoseEvents(), count=2))
        for name in "bcd":
            fake_api_server.send("ADDED", name)
        assert await read_events(reply, 1) == ["ADDED d"]
        assert rule.hits == 2


async def test_a_held_watch_is_silent_until_the_rule_is_removed(client, fake_api_server, proxy):
    rule = proxy.add(Rule(WATCHES, HoldWatch(name="b")))
    async with client.get(WATCH) as reply:
        for name in "abc":
            fake_api_server.send("ADDED", name)
        assert await read_events(reply, 1) == ["ADDED a"]
        await rule.held.wait()
        rest = asyncio.create_task(read_events(reply, 2))
        await asyncio.sleep(0)
        assert not rest.done()
        proxy.remove(rule)
        assert await rest == ["ADDED b", "ADDED c"]


async def test_a_watch_is_cut_at_an_event(client, fake_api_server, proxy):
    proxy.add(Rule(WATCHES, CutWatch(), first=2))
    async with client.get(WATCH) as reply:
        fake_api_server.send("ADDED", "a")
        assert await read_events(reply, 1) == ["ADDED a"]
        fake_api_server.send("ADDED", "b")
        with pytest.raises(aiohttp.ClientError):
            await reply.content.readline()


async def test_a_watch_is_cut_in_the_middle_of_a_line(client, fake_api_server, proxy):
    proxy.add(Rule(WATCHES, Cut(after=10)))
    async with client.get(WATCH) as reply:
        fake_api_server.send("ADDED", "a")
        assert await reply.content.readexactly(10) == b'{"type":"A'
        with pytest.raises(aiohttp.ClientError):
            await reply.read()


async def test_open_watches_are_cut_on_demand(client, proxy):
    async with client.get(WATCH) as reply:
        assert proxy.cut(Match(verb="watch", resource="services")) == 0
        assert proxy.cut(WATCHES) == 1
        with pytest.raises(aiohttp.ClientError):
            await reply.content.readline()


async def test_a_rejected_watch_is_forwarded_unchanged(client, fake_api_server, proxy):
    fake_api_server.watch_code = 410
    proxy.add(Rule(WATCHES, LoseEvents()))
    async with client.get(WATCH) as reply:
        assert (reply.status, (await reply.json())["code"]) == (410, 410)


async def test_an_unreachable_server_closes_the_connection(client, fake_api_server):
    await fake_api_server.stop()
    with pytest.raises(aiohttp.ClientError):
        await client.get(POD)


async def test_upgraded_connections_are_rejected(client):
    headers = {"Connection": "Upgrade", "Upgrade": "websocket"}
    async with client.get(POD + "/exec", headers=headers) as reply:
        assert reply.status == 501
        assert "upgraded" in await reply.text()


async def test_a_body_of_several_megabytes_is_forwarded(client):
    body = b"x" * 3_000_000
    async with client.post("/api/v1/pods", data=io.BytesIO(body)) as reply:
        assert len((await reply.json())["got"]) == len(body)
