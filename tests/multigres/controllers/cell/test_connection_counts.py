"""Clients of gateways, from a server that answers as a gateway does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.controllers.cell.connection_counts import ConnectionCounts, parse_connections
from steward.multigres.views import PodStatus, PodView
from steward.runtime.manager.connect_to import Forward, Redirect
from steward.testkit.clock import FakeClock

FIGURES = b"""HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r
# HELP mg_gateway_client_connections Clients.
# TYPE mg_gateway_client_connections gauge
mg_gateway_client_connections{endpoint="primary"} 3
mg_gateway_client_connections{endpoint="replica",otel_scope_name="x"} 2
mg_gateway_client_connections_other 7
"""
POD = PodView(ObjectMeta(name="gw-0", namespace="ns", uid="u"), PodStatus(pod_ip="10.0.0.1"))


@asynccontextmanager
async def gateway(answer: bytes) -> AsyncIterator[ConnectionCounts]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield ConnectionCounts(FakeClock(), Redirect((Forward("10.0.0.1", 9464, "127.0.0.1", port),)))


async def test_connections_of_all_endpoints_are_counted() -> None:
    async with gateway(FIGURES) as counts:
        assert counts.count(POD) is None
        await counts.refresh([POD])
        assert counts.count(POD) == 5


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (FIGURES, 5),
        (FIGURES.replace(b" 3\n", b" 0\n").replace(b" 2\n", b" 0\n"), 0),
        (b"HTTP/1.0 200 OK\r\n\r\n<html>no figures</html>", None),
        (FIGURES.replace(b"200 OK", b"500 Broken"), None),
        (b"", None),
    ],
    ids=["clients", "no-clients", "a-page", "an-error", "nothing"],
)
def test_an_answer_without_the_figure_says_nothing(answer: bytes, expected: int | None) -> None:
    assert parse_connections(answer) == expected


async def test_a_gateway_that_does_not_answer_has_an_unknown_number_of_clients() -> None:
    counts = ConnectionCounts(FakeClock(), Redirect((Forward("10.0.0.1", 9464, "127.0.0.1", 1),)))
    await counts.refresh([POD])
    assert counts.count(POD) is None


async def test_a_gateway_that_did_not_answer_is_not_asked_again_at_once() -> None:
    async with gateway(b"") as counts:
        await counts.refresh([POD])
    async with gateway(FIGURES) as other:
        counts._redirect = other._redirect
        await counts.refresh([POD])
        assert counts.count(POD) is None
