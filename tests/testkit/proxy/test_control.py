import asyncio
import signal
import sys

import aiohttp
import pytest

from steward.testkit import Answer, Drop, Match, RemoteProxy, Rule

POD = "/api/v1/namespaces/a/pods/p"
WATCH = "/api/v1/pods?watch=true"


async def test_rules_are_added_listed_and_removed_remotely(client, proxy):
    async with RemoteProxy(proxy.kubeconfig) as remote:
        state = await remote.add(Rule(Match(verb="get"), Answer(503)))
        async with client.get(POD) as reply:
            assert reply.status == 503
        assert [(rule.id, rule.hits) for rule in await remote.rules()] == [(state.id, 1)]
        await remote.remove(state.id)
        async with client.get(POD) as reply:
            assert reply.status == 201
        await remote.add(Rule(Match(), Drop()))
        await remote.clear()
        assert await remote.rules() == []


async def test_recorded_calls_are_listed_from_a_number_on(client, proxy):
    async with RemoteProxy(proxy.kubeconfig) as remote:
        for path in (POD, "/version"):
            async with client.get(path):
                pass
        first, second = await remote.recorded()
        assert (first.call.name, first.code, second.call.path) == ("p", 201, "/version")
        assert [recorded.number for recorded in await remote.recorded(after=first.number)] == [second.number]


async def test_open_watches_are_cut_remotely(client, proxy):
    async with RemoteProxy(proxy.kubeconfig) as remote, client.get(WATCH) as reply:
        assert await remote.cut(Match(verb="watch")) == 1
        with pytest.raises(aiohttp.ClientError):
            await reply.content.readline()


@pytest.mark.parametrize(
    ("method", "path", "code", "sentence"),
    [
        ("POST", "/.steward/rules", 400, "no rule or match"),
        ("GET", "/.steward/nothing", 404, "no control path"),
    ],
)
async def test_invalid_control_requests_are_errors(client, method, path, code, sentence):
    async with client.request(method, path, data=b"{") as reply:
        assert reply.status == code
        assert sentence in await reply.text()


async def test_a_proxy_in_another_process_is_controlled_remotely_and_ends_on_a_signal(
    fake_api_server, tmp_path
):
    written = tmp_path / "proxied"
    arguments = ["--kubeconfig", str(fake_api_server.kubeconfig), "--write-kubeconfig", str(written)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "steward.testkit", *arguments, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    assert b"fault proxy on https://127.0.0.1:" in await process.stderr.readline()
    async with RemoteProxy(written) as remote:
        assert (await remote.add(Rule(Match(), Drop()))).hits == 0
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(60):
        assert await process.wait() == 0
