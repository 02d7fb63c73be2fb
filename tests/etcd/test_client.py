"""The JSON gateway of a real etcd, with and without TLS."""

import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web

from steward.etcd.client import PAGE_KEYS, Endpoints, EtcdClient, prefix_end
from steward.etcd.errors import MalformedAnswer, RequestRejected, Unreachable
from steward.local import certificates
from tests.etcd.support.etcd_process import free_port, running_etcd, wait_until_reachable

pytestmark = pytest.mark.needs_server


@pytest_asyncio.fixture
async def etcd(tmp_path: Path) -> AsyncIterator[EtcdClient]:
    async with running_etcd(tmp_path, "http") as url:
        endpoints = Endpoints([url])
        await wait_until_reachable(endpoints)
        async with EtcdClient(endpoints) as client:
            yield client


async def test_a_value_is_read_back_with_its_revision(etcd: EtcdClient) -> None:
    assert await etcd.write("/a", b"\x00\xff", 0)
    found = await etcd.get("/a")
    assert found is not None
    assert found.value == b"\x00\xff"
    assert found.revision > 0


async def test_a_missing_key_is_none(etcd: EtcdClient) -> None:
    assert await etcd.get("/nothing") is None


async def test_a_key_is_created_only_once(etcd: EtcdClient) -> None:
    assert await etcd.write("/a", b"first", 0)
    assert not await etcd.write("/a", b"second", 0)
    found = await etcd.get("/a")
    assert found is not None
    assert found.value == b"first"


async def test_a_newer_value_is_never_overwritten(etcd: EtcdClient) -> None:
    await etcd.write("/a", b"old", 0)
    seen = await etcd.get("/a")
    assert seen is not None
    assert await etcd.write("/a", b"newer", seen.revision)
    assert not await etcd.write("/a", b"stale", seen.revision)
    assert not await etcd.delete("/a", seen.revision)


async def test_a_list_has_only_keys_with_the_prefix(etcd: EtcdClient) -> None:
    for key in ("/cells/a", "/cells/b", "/cellular"):
        await etcd.write(key, b"x", 0)
    assert sorted(await etcd.list("/cells/")) == ["/cells/a", "/cells/b"]


async def test_a_list_of_several_pages_is_complete(etcd: EtcdClient) -> None:
    keys = [f"/cells/{number:04}" for number in range(PAGE_KEYS + 1)]
    for key in keys:
        await etcd.write(key, b"x", 0)
    assert list(await etcd.list("/cells/")) == keys


async def test_a_deleted_key_is_gone(etcd: EtcdClient) -> None:
    await etcd.write("/a", b"x", 0)
    seen = await etcd.get("/a")
    assert seen is not None
    assert await etcd.delete("/a", seen.revision)
    assert await etcd.get("/a") is None


async def test_a_refused_connection_is_an_error_that_names_the_endpoint() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    async with EtcdClient(Endpoints([url])) as client:
        with pytest.raises(Unreachable, match=url):
            await client.get("/a")


async def test_a_timeout_is_an_error_that_names_its_length() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with EtcdClient(Endpoints([url], timeout_seconds=0.05)) as client:
            with pytest.raises(Unreachable, match=f"^{url}: no answer within 0.05 s$"):
                await client.get("/a")


async def test_a_server_that_is_not_etcd_is_rejected(some_web_server: str) -> None:
    async with EtcdClient(Endpoints([some_web_server])) as client:
        with pytest.raises(MalformedAnswer, match="is not the JSON that etcd's gateway sends"):
            await client.get("/a")


@pytest_asyncio.fixture
async def some_web_server() -> AsyncIterator[str]:
    """A server that answers 200 to everything."""

    async def hello(_: web.BaseRequest) -> web.Response:
        return web.Response(text="<html>hello</html>")

    runner = web.ServerRunner(web.Server(hello))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_an_unreachable_endpoint_does_not_hide_a_reachable_one(tmp_path: Path) -> None:
    async with running_etcd(tmp_path, "http") as url:
        endpoints = Endpoints([f"http://127.0.0.1:{free_port()}", url])
        await wait_until_reachable(endpoints)
        async with EtcdClient(endpoints) as client:
            assert await client.write("/a", b"x", 0)


async def test_an_error_response_differs_from_no_response(etcd: EtcdClient) -> None:
    with pytest.raises(RequestRejected, match="status 400: it rejects the request as invalid"):
        await etcd.get("")


async def test_an_address_inside_the_cluster_is_reached_through_a_redirect(tmp_path: Path) -> None:
    async with running_etcd(tmp_path, "http") as url:
        port = int(url.rpartition(":")[2])
        endpoints = Endpoints(["mini-global-topo.prod.svc:2379"], redirect=lambda *_: ("127.0.0.1", port))
        await wait_until_reachable(endpoints)
        async with EtcdClient(endpoints) as client:
            assert await client.write("/a", b"x", 0)


async def test_with_tls_both_sides_use_certificates(tmp_path: Path) -> None:
    made = certificates.ensure(tmp_path / "pki")
    flags = ["--cert-file", made.server.certificate, "--key-file", made.server.key]
    flags += ["--client-cert-auth", "--trusted-ca-file", made.ca.certificate]
    trusting = ssl.create_default_context(cafile=made.ca.certificate)
    admin = made.client("admin")
    trusting.load_cert_chain(admin.certificate, admin.key)
    async with running_etcd(tmp_path, "https", *map(str, flags)) as url:
        await wait_until_reachable(Endpoints([url], tls=trusting))
        async with EtcdClient(Endpoints([url], tls=trusting)) as client:
            assert await client.write("/a", b"x", 0)
        stranger = ssl.create_default_context(cafile=made.ca.certificate)
        async with EtcdClient(Endpoints([url], tls=stranger)) as client:
            with pytest.raises(Unreachable):
                await client.get("/a")


@pytest.mark.parametrize(("prefix", "end"), [("/a/", b"/a0"), ("a\xff", b"a\xc3\xc0"), ("", b"\0")])
def test_the_end_of_a_prefix_is_the_first_key_after_it(prefix: str, end: bytes) -> None:
    assert prefix_end(prefix) == end
