import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from steward.testkit import FaultProxy
from tests.testkit.support.fake_api_server import StandIn


@pytest.fixture
async def stand_in(tmp_path: Path) -> AsyncIterator[StandIn]:
    server = StandIn(tmp_path)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def proxy(stand_in: StandIn) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(stand_in.kubeconfig) as proxy:
        yield proxy


@pytest.fixture
async def client(proxy: FaultProxy) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of the proxy, with a user agent of its own."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=proxy.authority))
    async with aiohttp.ClientSession(
        proxy.url, connector=connector, headers={"User-Agent": "tester"}
    ) as session:
        yield session
