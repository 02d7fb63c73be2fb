import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from steward.testkit import FaultProxy
from tests.testkit.support.fake_api_server import FakeApiServer


@pytest.fixture
async def fake_api_server(tmp_path: Path) -> AsyncIterator[FakeApiServer]:
    server = FakeApiServer(tmp_path)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def proxy(fake_api_server: FakeApiServer) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(fake_api_server.kubeconfig) as proxy:
        yield proxy


@pytest.fixture
async def client(proxy: FaultProxy) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of the proxy, with its own user agent."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=proxy.authority))
    async with aiohttp.ClientSession(
        proxy.url, connector=connector, headers={"User-Agent": "tester"}
    ) as session:
        yield session
