"""A pod of the cluster that can reach the operator's ports and has no account. The operator is a real process."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count, product
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.runtime.observability.metrics_server import REVIEWS_A_SECOND
from tests.attacks.support.attacked_operator import AttackedOperator, attacked_operator
from tests.attacks.support.hostile_clients import (
    ATTACKER,
    GUARD_SECONDS,
    LOST,
    Stream,
    open_plain,
    open_tls,
    post_header,
    send_slow_body,
    status,
    until_at_most,
)
from tests.attacks.support.metrics_scraper import Scraper, metrics_scraper
from tests.attacks.support.process_memory import MIB, peak_bytes, reset_peak, resident_bytes
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

WEBHOOK = "/mutate-multigres-com-v1alpha1-multigrescluster"
# What the operator may use beyond its memory at rest while clients do their worst.
GROWTH_LIMIT = 110 * MIB
CONNECTION_LIMIT = 256


@pytest.fixture(scope="module")
def operator(
    control_plane: ControlPlane, api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedOperator]:
    """One operator for all attacks: none of them may leave it worse for the next."""
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    namespace = namespaces.create_namespace(api_server)
    directory = tmp_path_factory.mktemp("attacked")
    with attacked_operator(control_plane, kubectl, namespace, directory) as running:
        yield running
    namespaces.release_namespace(api_server, namespace)


@pytest.fixture(scope="module")
def scraper(operator: AttackedOperator) -> Iterator[Scraper]:
    with metrics_scraper(operator.kubectl, operator.namespace) as found:
        yield found


@asynccontextmanager
async def attack(operator: AttackedOperator) -> AsyncIterator[None]:
    """During the block the operator serves; at its end the memory was bounded, and the log has no traceback."""
    await asyncio.to_thread(reset_peak, operator.pid)
    before = resident_bytes(operator.pid)
    logged = len(operator.log.read_text())
    async with asyncio.timeout(2 * GUARD_SECONDS):
        yield
    growth = peak_bytes(operator.pid) - before
    assert growth < GROWTH_LIMIT, f"{growth / MIB:.0f} MiB more than {before / MIB:.0f} MiB"
    assert "Traceback" not in operator.log.read_text()[logged:]


async def assert_served(operator: AttackedOperator) -> None:
    """The API server gets its review, and the kubelet its probes."""
    assert await asyncio.to_thread(operator.review_problem) == ""
    for path in ("/healthz", "/readyz"):
        assert await asyncio.to_thread(operator.probe, path) == 200


async def open_many(
    count: int, opener: Callable[[int, str], Awaitable[Stream]], port: int, address: str = ATTACKER
) -> list[Stream]:
    return [await opener(port, address) for _ in range(count)]


def abort(streams: list[Stream]) -> None:
    for stream in streams:
        stream.abort()


async def test_bodies_that_never_end_take_a_bounded_amount_of_memory(operator: AttackedOperator) -> None:
    async with attack(operator):
        streams = await open_many(120, open_tls, operator.ports.webhooks)
        sending = [
            asyncio.create_task(send_slow_body(stream, WEBHOOK, 8 * MIB, kept_back=MIB // 10))
            for stream in streams
        ]
        await assert_served(operator)
        answers = await asyncio.gather(*sending)
    # The largest are rejected to make room, the others at the deadline.
    assert {status(answer) for answer in answers} <= {b"429", b"500", b""}


async def test_reviews_are_answered_while_many_clients_hold_bodies(operator: AttackedOperator) -> None:
    async with attack(operator):
        streams = [await open_tls(operator.ports.webhooks, f"127.0.1.{number}") for number in range(1, 100)]
        sending = [
            asyncio.create_task(send_slow_body(stream, WEBHOOK, 2 * MIB, kept_back=1)) for stream in streams
        ]
        for _ in range(3):
            await assert_served(operator)
        abort(streams)
        await asyncio.gather(*sending)


async def test_memory_is_given_back_when_clients_hang_up(operator: AttackedOperator) -> None:
    async with attack(operator):
        for _ in range(6):
            streams = await open_many(20, open_tls, operator.ports.webhooks)
            for stream in streams:
                await stream.send(post_header(WEBHOOK, f"Content-Length: {MIB}") + b" " * (MIB // 2))
            abort(streams)
        await until_at_most(0, lambda: operator.webhook_connections(ATTACKER))
        await assert_served(operator)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"POST /x HTTP/1.1\r\nHost: a\r\nX-Slow: ", id="half a header"),
    ],
)
async def test_connections_without_a_request_are_bounded_and_closed(
    operator: AttackedOperator, sent: bytes
) -> None:
    async with attack(operator):
        streams = await open_many(CONNECTION_LIMIT + 60, open_tls, operator.ports.webhooks)
        for stream in streams:
            await stream.send(sent)
        await until_at_most(CONNECTION_LIMIT, lambda: operator.webhook_connections(ATTACKER))
        await assert_served(operator)
        await asyncio.gather(*(stream.answer() for stream in streams))
        await until_at_most(0, lambda: operator.webhook_connections(ATTACKER))


async def test_handshakes_that_never_end_are_bounded_and_closed(operator: AttackedOperator) -> None:
    async with attack(operator):
        streams = await open_many(CONNECTION_LIMIT + 60, open_plain, operator.ports.webhooks)
        await until_at_most(CONNECTION_LIMIT, lambda: operator.webhook_connections(ATTACKER))
        await assert_served(operator)
        await asyncio.gather(*(stream.answer() for stream in streams))


async def test_an_idle_connection_of_the_api_server_outlives_a_flood(operator: AttackedOperator) -> None:
    async with attack(operator):
        await assert_served(operator)
        kept = set(operator.webhook_connections("127.0.0.1"))
        streams = await open_many(CONNECTION_LIMIT + 20, open_tls, operator.ports.webhooks)
        assert kept
        assert kept <= set(operator.webhook_connections("127.0.0.1"))
        abort(streams)
        await assert_served(operator)


async def test_headers_that_never_end_take_a_bounded_amount_of_memory(operator: AttackedOperator) -> None:
    field = b"X-Field-%d: " + b"x" * 8000 + b"\r\n"
    async with attack(operator):
        streams = await open_many(200, open_tls, operator.ports.webhooks)
        for stream in streams:
            await stream.send(b"POST /x HTTP/1.1\r\nHost: a\r\n")
            for number in range(30):
                await stream.send(field % number)
        await assert_served(operator)
        await asyncio.gather(*(stream.answer() for stream in streams))


async def test_pipelined_requests_take_a_bounded_amount_of_memory(operator: AttackedOperator) -> None:
    request = post_header(
        WEBHOOK, "Content-Length: 2", *(f"X-{number}: {'x' * 4000}" for number in range(30))
    )
    async with attack(operator):
        streams = await open_many(100, open_tls, operator.ports.webhooks)
        await asyncio.gather(*(stream.send((request + b"{}") * 60) for stream in streams))
        await assert_served(operator)
        abort(streams)


async def test_an_endless_chunked_body_ends_at_the_size_limit(operator: AttackedOperator) -> None:
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    async with attack(operator):
        stream = await open_tls(operator.ports.webhooks)
        await stream.send(post_header(WEBHOOK, "Transfer-Encoding: chunked"))
        answer = asyncio.create_task(stream.answer())
        while not answer.done() and not stream.writer.is_closing():
            await stream.send(chunk)
        assert status(await answer) in (b"413", b"")


HUGE = 1 << 60
BOMB = gzip.compress(bytes(MIB))
MALFORMED = {
    "a length that no body has": (post_header(WEBHOOK, f"Content-Length: {HUGE}"), b"413"),
    "a negative length": (post_header(WEBHOOK, "Content-Length: -1"), b"400"),
    "two lengths": (post_header(WEBHOOK, "Content-Length: 5", "Content-Length: 6") + b"{}", b"400"),
    "no HTTP": (b"\x00\xff\x00\xff" * 100 + b"\r\n\r\n", b"400"),
    "an invalid chunk": (post_header(WEBHOOK, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n", b"400"),
    "a compressed body": (
        post_header(WEBHOOK, "Content-Encoding: gzip", f"Content-Length: {len(BOMB)}") + BOMB,
        b"415",
    ),
    "another path": (post_header("/nowhere", "Content-Length: 2") + b"{}", b"404"),
    "another method": (b"DELETE " + WEBHOOK.encode() + b" HTTP/1.1\r\nHost: a\r\n\r\n", b"405"),
    "an upgrade": (
        post_header(WEBHOOK, "Connection: upgrade", "Upgrade: websocket", "Content-Length: 2")
        + b"{}"
        + b"x" * 999,
        b"400",
    ),
    "a body of other values": (post_header(WEBHOOK, "Content-Length: 9") + b"[[],[1,2]", b"400"),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_malformed_request_gets_an_error_and_leaves_no_traceback(
    operator: AttackedOperator, case: str
) -> None:
    sent, expected = MALFORMED[case]
    async with attack(operator):
        stream = await open_tls(operator.ports.webhooks)
        await stream.send(sent)
        assert status(await stream.first_line()) == expected
        stream.abort()
        await assert_served(operator)


@pytest.mark.parametrize("value", [b"[]", b"{}", b'{"a":1}', b'"\\ud83d\\ude00"'])
async def test_a_review_of_many_small_values_is_rejected_before_it_is_decoded(
    operator: AttackedOperator, value: bytes
) -> None:
    values = b",".join([value] * (7 * MIB // (len(value) + 1)))
    body = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",'
    body += b'"operation":"CREATE","kind":{"kind":"MultigresCluster"},"object":{"spec":[' + values + b"]}}}"
    async with attack(operator):
        stream = await open_tls(operator.ports.webhooks)
        await stream.send(post_header(WEBHOOK, f"Content-Length: {len(body)}") + body)
        assert status(await stream.first_line()) == b"413"
        stream.abort()
        await assert_served(operator)


PATHS = {
    WEBHOOK: "MultigresCluster",
    **{
        f"/validate-multigres-com-v1alpha1-{kind.lower()}": kind
        for kind in ("MultigresCluster", "CoreTemplate", "CellTemplate", "ShardTemplate")
    },
}
INVALID_SPECS: list[Any] = [
    None,
    5,
    [],
    "x",
    {"cells": 5},
    {"cells": [5, None, []]},
    {"cells": {"name": "a"}},
    {"databases": [[{}]]},
    {"databases": [{"tablegroups": [{"shards": [{"spec": {"pools": [1]}}]}]}]},
    {"globalTopoServer": []},
    {"templateDefaults": 5},
    {"updatePolicy": {"window": {"cron": 5}}},
    {"pools": {"main": None}},
    {"etcd": {"replicas": "many"}},
]


@pytest.mark.parametrize("path", PATHS)
async def test_a_review_of_an_object_that_no_schema_has_checked_leaves_no_traceback(
    operator: AttackedOperator, path: str
) -> None:
    async with attack(operator):
        stream = await open_tls(operator.ports.webhooks)
        for spec, operation in product(INVALID_SPECS, ("CREATE", "UPDATE", "DELETE")):
            await stream.send(_review(path, spec, operation))
            assert status(await stream.first_line()) == b"200"
        await stream.send(_review(path, {}, "CREATE", "Invented"))
        assert status(await stream.first_line()) == b"400"
        stream.abort()


def _review(path: str, spec: Any, operation: str, kind: str = "") -> bytes:
    found = {"metadata": {"name": "x", "namespace": "n"}, "spec": spec}
    request = {
        "uid": "u",
        "operation": operation,
        "kind": {"kind": kind or PATHS[path]},
        "name": "x",
        "namespace": "n",
        "object": None if operation == "DELETE" else found,
        "oldObject": None if operation == "CREATE" else found,
    }
    body = json.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    ).encode()
    return post_header(path, f"Content-Length: {len(body)}") + body


async def test_garbage_on_every_port_leaves_no_traceback(operator: AttackedOperator) -> None:
    async with attack(operator):
        for port in operator.ports:
            streams = await open_many(20, open_plain, port)
            for stream in streams:
                await stream.send(b"\x16\x03\x01garbage\r\n\r\n" * 50)
            await asyncio.gather(*(stream.answer() for stream in streams))
        await assert_served(operator)


@pytest.mark.parametrize("server", ["metrics", "probes"])
async def test_the_other_servers_bound_their_connections_too(operator: AttackedOperator, server: str) -> None:
    opener = open_tls if server == "metrics" else open_plain
    async with attack(operator):
        streams = await open_many(200, opener, getattr(operator.ports, server))
        for stream in streams:
            await stream.send(b"GET /healthz HTTP/1.1\r\nHost: ")
        await until_at_most(64, lambda: operator.open_connections(getattr(operator.ports, server), ATTACKER))
        await assert_served(operator)
        await asyncio.gather(*(stream.answer() for stream in streams))


def metrics_request(token: bytes) -> bytes:
    return b"GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token + b"\r\n\r\n"


@pytest.mark.parametrize("token", [b"\xff\xfe\xfd", "tökén".encode(), b"two words", b"a\x01b", b"=" * 4000])
async def test_a_token_that_no_server_issues_is_unauthorized(
    operator: AttackedOperator, token: bytes
) -> None:
    async with attack(operator):
        stream = await open_tls(operator.ports.metrics)
        await stream.send(metrics_request(token))
        # A control character is no valid header at all.
        assert status(await stream.first_line()) == (b"400" if b"\x01" in token else b"401")
        stream.abort()


async def test_invented_tokens_cost_few_reviews_and_leave_a_scraper_its_turn(
    operator: AttackedOperator, scraper: Scraper
) -> None:
    before = reviews_made(await scrape(operator, scraper.new_token()))
    started = asyncio.get_running_loop().time()
    async with attack(operator):
        flooding = [
            asyncio.create_task(_flood_with_tokens(operator.ports.metrics, f"127.0.3.{number}"))
            for number in range(1, 9)
        ]
        # A new token, so that the operator has to ask for it while the others wait.
        page = await scrape(operator, scraper.new_token())
        seconds = asyncio.get_running_loop().time() - started
        for task in flooding:
            task.cancel()
        await asyncio.gather(*flooding, return_exceptions=True)
    # Two for each token of the scraper, and those that the limit allows in that time and in the second before.
    assert reviews_made(page) - before <= 4 + REVIEWS_A_SECOND * (seconds + 1)


async def scrape(operator: AttackedOperator, token: str) -> str:
    url = f"https://127.0.0.1:{operator.ports.metrics}/metrics"
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers, ssl=False) as answer:
        assert answer.status == 200
        return await answer.text()


def reviews_made(page: str) -> float:
    """The objects that the operator has created: TokenReviews and SubjectAccessReviews, and few others."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "rest_client_requests_total" and sample.labels["method"] == "POST"
    )


async def _flood_with_tokens(port: int, address: str) -> None:
    for connection in count():
        with suppress(*LOST):
            stream = await open_tls(port, address)
            try:
                for number in range(50):
                    await stream.send(metrics_request(f"invented-{address}-{connection}-{number}".encode()))
                    await stream.first_line()
            finally:
                stream.abort()
