"""Clients of gateways and poolers, from a server that answers as they do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.controllers.connection_counts import ConnectionCounts, parse_connections
from steward.multigres.objects.metadata import COMPONENT_LABEL
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
POOLER_FIGURES = b"""HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r
# TYPE mg_pooler_client_waiting_connections gauge
mg_pooler_client_waiting_connections{otel_scope_name="x",routing_role="PRIMARY"} 1
mg_pooler_reserved_active_connections{routing_role="PRIMARY"} 2
# TYPE mg_pooler_server_connections gauge
mg_pooler_server_connections{otel_scope_name="x",routing_role="PRIMARY",state="active"} 4
mg_pooler_server_connections{otel_scope_name="x",routing_role="PRIMARY",state="idle"} 9
"""


def pod(component: str) -> PodView:
    labels = {COMPONENT_LABEL: component}
    return PodView(
        ObjectMeta(name="pod-0", namespace="ns", uid="u", labels=labels), PodStatus(pod_ip="10.0.0.1")
    )


POD = pod("multigateway")


@asynccontextmanager
async def answering(answer: bytes, port: int = 9464) -> AsyncIterator[ConnectionCounts]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    here = server.sockets[0].getsockname()[1]
    async with server:
        yield ConnectionCounts(FakeClock(), Redirect((Forward("10.0.0.1", port, "127.0.0.1", here),)))


async def test_connections_of_all_endpoints_are_counted() -> None:
    async with answering(FIGURES) as counts:
        assert counts.count(POD) is None
        await counts.refresh([POD])
        assert counts.count(POD) == 5


async def test_requests_that_a_pooler_runs_or_lets_wait_are_counted_and_idle_connections_are_not() -> None:
    async with answering(POOLER_FIGURES, 9465) as counts:
        await counts.refresh([pod("shard-pool")])
        assert counts.count(POD) == 5


async def test_a_pod_without_figures_is_not_asked() -> None:
    async with answering(FIGURES) as counts:
        await counts.refresh([pod("multiorch")])
        assert counts.count(POD) is None


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
    assert parse_connections("multigateway", answer) == expected


async def test_a_gateway_that_does_not_answer_has_an_unknown_number_of_clients() -> None:
    counts = ConnectionCounts(FakeClock(), Redirect((Forward("10.0.0.1", 9464, "127.0.0.1", 1),)))
    await counts.refresh([POD])
    assert counts.count(POD) is None


async def test_a_gateway_that_did_not_answer_is_not_asked_again_at_once() -> None:
    async with answering(b"") as counts:
        await counts.refresh([POD])
    async with answering(FIGURES) as other:
        counts._redirect = other._redirect
        await counts.refresh([POD])
        assert counts.count(POD) is None
