"""The etcd in memory, through the client that the operator uses."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from steward.etcd.client import PAGE_KEYS, Endpoints, EtcdClient
from steward.etcd.errors import Unreachable
from steward.testkit.fake_data_plane.memory_etcd import DirectEtcdClient, MemoryEtcd


@pytest.fixture
async def server() -> AsyncIterator[MemoryEtcd]:
    found = MemoryEtcd()
    await found.start()
    yield found
    await found.remove()


@pytest.fixture(params=["over HTTP", "directly"])
async def client(server: MemoryEtcd, request: pytest.FixtureRequest) -> AsyncIterator[EtcdClient]:
    async with over_http(server) if request.param == "over HTTP" else DirectEtcdClient(server.store) as etcd:
        yield etcd


def over_http(server: MemoryEtcd, seconds: float = 5.0) -> EtcdClient:
    return EtcdClient(Endpoints((f"127.0.0.1:{server.port}",), timeout_seconds=seconds))


async def test_a_write_needs_the_current_revision(client: EtcdClient) -> None:
    assert await client.get("/a") is None
    assert await client.write("/a", b"1", 0)
    assert not await client.write("/a", b"2", 0)
    first = await client.get("/a")
    assert first is not None
    assert await client.write("/a", b"2", first.revision)
    assert not await client.delete("/a", first.revision)
    second = await client.get("/a")
    assert second is not None
    assert (second.value, second.revision > first.revision) == (b"2", True)
    assert await client.delete("/a", second.revision)
    assert await client.get("/a") is None


async def test_a_call_that_is_meant_for_another_server_is_rejected(server: MemoryEtcd) -> None:
    url = f"http://127.0.0.1:{server.port}/api/v1/poolers"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.status == 400


async def test_a_list_has_all_keys_below_a_prefix(client: EtcdClient) -> None:
    names = [f"/a/{number:04}" for number in range(PAGE_KEYS + 1)]
    for name in ("/a", *names, "/b"):
        assert await client.write(name, b"", 0)
    assert list(await client.list("/a/")) == names


async def test_a_paused_server_does_not_answer_and_a_stopped_one_refuses_connections(
    server: MemoryEtcd,
) -> None:
    await server.pause()
    async with over_http(server, seconds=0.1) as etcd:
        with pytest.raises(Unreachable, match="no answer within"):
            await etcd.get("/a")
    server.resume()
    server.store.write(b"/a", b"kept")
    port = server.port
    await server.stop()
    async with over_http(server) as etcd:
        with pytest.raises(Unreachable, match="Cannot connect"):
            await etcd.get("/a")
    await server.start()
    async with over_http(server) as etcd:
        found = await etcd.get("/a")
    assert (server.port, found is not None and found.value) == (port, b"kept")
