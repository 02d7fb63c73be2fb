"""The client of multiadmin against a small server: requests, answers, and what is asked once more."""

from collections.abc import AsyncIterator

import pytest

from steward.local import ports
from steward.multiadmin.client import Address, MultiadminClient
from steward.multiadmin.errors import RequestRejected, Unreachable
from tests.multiadmin.support.server import ok, rejected, small_multiadmin
from tests.multiadmin.support.statuses import COHORT, PRIMARY

SWITCHED = {"oldLeaderId": COHORT[0]}
NO_ROUTE = "failed to get status from pooler: dial tcp 10.0.0.7:15100: connect: no route to host"


@pytest.fixture
async def client() -> AsyncIterator[MultiadminClient]:
    client = MultiadminClient(lambda host, port: (host, port))
    yield client
    await client.stop()


async def test_status_of_a_pooler_is_decoded(client: MultiadminClient) -> None:
    async with small_multiadmin(ok(PRIMARY)) as server:
        status = await client.at(server.address).pooler_status("z1", "pg-0")
    assert server.requests == ["GET /api/v1/poolers/z1/pg-0/status"]
    assert status.status.postgres_ready
    assert status.rule_position.decision is not None


async def test_names_cannot_change_the_path_of_a_request(client: MultiadminClient) -> None:
    async with small_multiadmin(ok(PRIMARY)) as server:
        await client.at(server.address).pooler_status("z1/..", "pg?x=#")
    assert server.requests == ["GET /api/v1/poolers/z1%2F../pg%3Fx%3D%23/status"]


async def test_switch_sends_its_reason(client: MultiadminClient) -> None:
    async with small_multiadmin(ok(SWITCHED)) as server:
        await client.at(server.address).switch_primary("postgres", "default", "0-inf", "pod is replaced")
    assert server.requests == ["POST /api/v1/shards/postgres/default/0-inf/switch-primary"]
    assert server.bodies == ['{"reason":"pod is replaced"}']


async def test_refused_switch_quotes_multiadmin(client: MultiadminClient) -> None:
    answer = rejected(9, "no standby poolers available for promotion\n\x1b[31m", 400)
    async with small_multiadmin(answer) as server:
        with pytest.raises(RequestRejected) as caught:
            await client.at(server.address).switch_primary("postgres", "default", "0-inf", "")
    assert (caught.value.code, caught.value.sentence) == (
        9,
        "no standby poolers available for promotion [31m",
    )
    assert str(server.address) in str(caught.value)


@pytest.mark.parametrize("code", [13, 14])
async def test_status_is_asked_once_more_after_a_dead_connection(client: MultiadminClient, code: int) -> None:
    async with small_multiadmin(rejected(code, NO_ROUTE), ok(PRIMARY)) as server:
        await client.at(server.address).pooler_status("z1", "pg-0")
    assert len(server.requests) == 2


async def test_second_failure_is_reported(client: MultiadminClient) -> None:
    async with small_multiadmin(rejected(14, NO_ROUTE), rejected(14, NO_ROUTE)) as server:
        with pytest.raises(RequestRejected, match="no route to host"):
            await client.at(server.address).pooler_status("z1", "pg-0")


async def test_unknown_pooler_is_not_asked_again(client: MultiadminClient) -> None:
    async with small_multiadmin(rejected(5, "pooler 'z1/pg-9' not found", 404)) as server:
        with pytest.raises(RequestRejected) as caught:
            await client.at(server.address).pooler_status("z1", "pg-9")
    assert caught.value.code == 5


async def test_switch_is_asked_once_more_after_a_dead_connection(client: MultiadminClient) -> None:
    message = "ResignLeadership failed: connect: no route to host"
    async with small_multiadmin(rejected(13, message), ok(SWITCHED)) as server:
        await client.at(server.address).switch_primary("postgres", "default", "0-inf", "")
    assert len(server.requests) == 2


async def test_switch_that_may_have_begun_is_not_asked_again(client: MultiadminClient) -> None:
    async with small_multiadmin(rejected(13, "ResignLeadership failed: deadline exceeded")) as server:
        with pytest.raises(RequestRejected):
            await client.at(server.address).switch_primary("postgres", "default", "0-inf", "")
    assert len(server.requests) == 1


async def test_address_is_redirected() -> None:
    async with small_multiadmin(ok(PRIMARY)) as server:
        client = MultiadminClient(
            lambda host, port: server.address if host == "mini.shop.svc" else (host, port)
        )
        await client.at(Address("mini.shop.svc", 18000)).pooler_status("z1", "pg-0")
        await client.stop()


async def test_server_that_does_not_listen_is_unreachable(client: MultiadminClient) -> None:
    address = Address("127.0.0.1", ports.free_ports(1)[0])
    with pytest.raises(Unreachable, match=f"{address}: it accepts no connection"):
        await client.at(address).pooler_status("z1", "pg-0")
