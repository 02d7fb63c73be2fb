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


async def test_without_rules_a_call_passes_unchanged(client, stand_in, proxy):
    path = "/api/v1/pods?labelSelector=a%3Db&limit=500"
    async with client.post(path, data=b'{"x":1}', headers={"Content-Type": "application/json"}) as reply:
        assert reply.status == 201
        assert await reply.json() == {"got": '{"x":1}', "path": path}
    assert stand_in.received == [("POST", path)]
    (seen,) = proxy.seen
    assert (seen.code, seen.upstream_code, seen.fault, seen.body) == (201, 201, "", b'{"x":1}')
    assert (seen.call.verb, seen.call.user_agent) == ("create", "tester")


async def test_a_client_without_credentials_acts_as_the_kubeconfigs_user(client, stand_in):
    async with client.get(POD):
        assert stand_in.identities == ["admin"]


async def test_a_client_with_a_token_keeps_its_own_identity(client, stand_in):
    async with client.get(POD, headers={"Authorization": "Bearer own"}):
        assert stand_in.identities == ["Bearer own"]


async def test_a_kubeconfig_with_a_token_of_its_own_can_be_written(proxy, tmp_path):
    path = proxy.write_kubeconfig(tmp_path / "as-someone", token="own")
    assert read_upstream(path).token == "own"
    assert read_upstream(path).url == proxy.url
    assert path.stat().st_mode & 0o077 == 0


async def test_a_dropped_request_never_reaches_the_server(client, stand_in, proxy):
    proxy.add(Rule(WRITES, Drop(), first=2, count=1))
    async with client.patch(POD, data=b"1"):
        pass
    with pytest.raises(aiohttp.ClientError):
        await client.patch(POD, data=b"2")
    async with client.patch(POD, data=b"3") as reply:
        assert (await reply.json())["got"] == "3"
    assert len(stand_in.received) == 2
    assert [seen.code for seen in proxy.calls(WRITES)] == [201, 0, 201]


async def test_a_lost_reply_was_committed(client, stand_in, proxy):
    proxy.add(Rule(WRITES, LoseReply(), count=1))
    with pytest.raises(aiohttp.ClientError):
        await client.patch(POD, data=b"1")
    assert stand_in.received == [("PATCH", POD)]
    (seen,) = proxy.seen
    assert (seen.code, seen.upstream_code, seen.fault) == (0, 201, "LoseReply")


async def test_a_reply_is_cut_after_so_many_bytes(client, proxy):
    proxy.add(Rule(Match(), Cut(after=4), count=1))
    async with client.get(POD) as reply:
        assert reply.status == 201
        assert await reply.content.readexactly(4) == b'{"go'
        with pytest.raises(aiohttp.ClientError):
            await reply.read()


async def test_a_scripted_answer_comes_from_the_proxy_alone(client, stand_in, proxy):
    proxy.add(Rule(Match(verb="patch"), Answer(429, retry_after=2), count=1))
    async with client.patch(POD) as reply:
        assert (reply.status, reply.headers["Retry-After"]) == (429, "2")
        assert (await reply.json())["reason"] == "TooManyRequests"
    assert stand_in.received == []


async def test_a_delay_waits_on_the_proxys_clock(stand_in):
    clock = FakeClock()
    async with FaultProxy(stand_in.kubeconfig, clock) as proxy:
        proxy.add(Rule(Match(), Delay(30)))
        connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=proxy.authority))
        async with aiohttp.ClientSession(proxy.url, connector=connector) as client:
            call = asyncio.create_task(client.get(POD))
            await clock.until_asleep()
            assert stand_in.received == []
            clock.advance(30)
            (await call).release()
    assert stand_in.received == [("GET", POD)]


async def test_a_held_request_goes_on_when_the_rule_is_removed(client, stand_in, proxy):
    rule = proxy.add(Rule(WRITES, Hold()))
    call = asyncio.create_task(client.patch(POD))
    await rule.held.wait()
    assert stand_in.received == []
    proxy.remove(rule)
    (await call).release()
    assert stand_in.received == [("PATCH", POD)]


async def test_a_held_reply_was_committed_and_comes_when_the_rule_is_removed(client, stand_in, proxy):
    rule = proxy.add(Rule(WRITES, HoldReply()))
    call = asyncio.create_task(client.patch(POD))
    await rule.held.wait()
    assert (stand_in.received, call.done()) == ([("PATCH", POD)], False)
    proxy.remove(rule)
    async with await call as reply:
        assert reply.status == 201


async def test_a_held_request_whose_client_gave_up_is_never_sent(client, stand_in, proxy):
    rule = proxy.add(Rule(WRITES, Hold()))
    call = asyncio.create_task(client.patch(POD))
    await rule.held.wait()
    call.cancel()
    await proxy.until_idle(WRITES)
    proxy.remove(rule)
    async with client.get(POD):
        assert stand_in.received == [("GET", POD)]


async def test_watch_events_pass_as_they_come(client, stand_in):
    async with client.get(WATCH) as reply:
        for name in ("a", "b"):
            stand_in.send("ADDED", name)
            assert await read_events(reply, 1) == [f"ADDED {name}"]
        stand_in.events.put_nowait(None)
        assert await reply.read() == b""


@pytest.mark.parametrize("rules", [[], [Rule(WATCHES, LoseEvents(name="none"))]])
async def test_a_line_that_comes_in_two_parts_passes_whole(client, stand_in, proxy, rules):
    for rule in rules:
        proxy.add(rule)
    async with client.get(WATCH) as reply:
        stand_in.events.put_nowait(b'{"type":"ADDED","obj')
        await asyncio.sleep(0.01)
        stand_in.events.put_nowait(b'ect":{"metadata":{"name":"a"}}}\n')
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
async def test_watch_events_are_tampered_with(client, stand_in, proxy, fault, got):
    proxy.add(Rule(WATCHES, fault))
    async with client.get(WATCH) as reply:
        for name in "abc":
            stand_in.send("ADDED", name)
        assert await read_events(reply, len(got)) == got


async def test_a_rule_counts_for_watches_that_are_already_open(client, stand_in, proxy):
    async with client.get(WATCH) as reply:
        stand_in.send("ADDED", "a")
        assert await read_events(reply, 1) == ["ADDED a"]
        rule = proxy.add(Rule(WATCHES, LoseEvents(), count=2))
        for name in "bcd":
            stand_in.send("ADDED", name)
        assert await read_events(reply, 1) == ["ADDED d"]
        assert rule.hits == 2


async def test_a_held_watch_is_silent_until_the_rule_is_removed(client, stand_in, proxy):
    rule = proxy.add(Rule(WATCHES, HoldWatch(name="b")))
    async with client.get(WATCH) as reply:
        for name in "abc":
            stand_in.send("ADDED", name)
        assert await read_events(reply, 1) == ["ADDED a"]
        await rule.held.wait()
        rest = asyncio.create_task(read_events(reply, 2))
        await asyncio.sleep(0)
        assert not rest.done()
        proxy.remove(rule)
        assert await rest == ["ADDED b", "ADDED c"]


async def test_a_watch_is_cut_at_an_event(client, stand_in, proxy):
    proxy.add(Rule(WATCHES, CutWatch(), first=2))
    async with client.get(WATCH) as reply:
        stand_in.send("ADDED", "a")
        assert await read_events(reply, 1) == ["ADDED a"]
        stand_in.send("ADDED", "b")
        with pytest.raises(aiohttp.ClientError):
            await reply.content.readline()


async def test_a_watch_is_cut_in_the_middle_of_a_line(client, stand_in, proxy):
    proxy.add(Rule(WATCHES, Cut(after=10)))
    async with client.get(WATCH) as reply:
        stand_in.send("ADDED", "a")
        assert await reply.content.readexactly(10) == b'{"type":"A'
        with pytest.raises(aiohttp.ClientError):
            await reply.read()


async def test_open_watches_are_cut_on_demand(client, proxy):
    async with client.get(WATCH) as reply:
        assert proxy.cut(Match(verb="watch", resource="services")) == 0
        assert proxy.cut(WATCHES) == 1
        with pytest.raises(aiohttp.ClientError):
            await reply.content.readline()


async def test_a_refused_watch_passes_as_it_is(client, stand_in, proxy):
    stand_in.watch_code = 410
    proxy.add(Rule(WATCHES, LoseEvents()))
    async with client.get(WATCH) as reply:
        assert (reply.status, (await reply.json())["code"]) == (410, 410)


async def test_a_server_that_is_gone_is_a_closed_connection(client, stand_in):
    await stand_in.stop()
    with pytest.raises(aiohttp.ClientError):
        await client.get(POD)


async def test_upgraded_connections_are_refused_with_a_sentence(client):
    headers = {"Connection": "Upgrade", "Upgrade": "websocket"}
    async with client.get(POD + "/exec", headers=headers) as reply:
        assert reply.status == 501
        assert "upgraded" in await reply.text()


async def test_a_body_of_several_megabytes_passes(client):
    body = b"x" * 3_000_000
    async with client.post("/api/v1/pods", data=io.BytesIO(body)) as reply:
        assert len((await reply.json())["got"]) == len(body)
