"""Servers that are not etcd, or lie: each answer ends in an error, within bounds, and without words of the server."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError, MalformedAnswer, RequestRejected, Unreachable
from steward.etcd.memory import AnswerMemory
from tests.etcd.support.hostile_server import (
    CHUNK,
    CHUNKED,
    FOREIGN,
    Behaviour,
    answer_of,
    dripping_answer,
    endless_answer,
    gzip_bomb,
    hostile_server,
    raw_answer,
)

HEADER = {"cluster_id": "1", "member_id": "1", "revision": "9", "raft_term": "2"}
SENT_BYTES = 16 << 20
"""More than a client may read, and less than it would take to harm its process: what the kernel buffers is included."""
DEEP = b'{"header":' + b"[" * 200_000
NESTED_UNKNOWN = b'{"header":{"revision":"1"},"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def record(name: str, **others: Any) -> dict[str, Any]:
    return {"key": encoded(name), "mod_revision": "5", "value": encoded("v"), **others}


def range_answer(*kvs: Mapping[str, Any], **others: Any) -> bytes:
    return json.dumps({"header": HEADER, "kvs": kvs, **others}).encode()


async def list_from(behaviour: Behaviour, **options: Any) -> EtcdError:
    """The error of one list, which must not show any word of the server."""
    with hostile_server(behaviour) as server:
        async with EtcdClient(Endpoints([server.url], **options)) as etcd:
            with pytest.raises(EtcdError) as caught:
                await etcd.list("/a/")
    assert server.url in str(caught.value)
    assert FOREIGN not in str(caught.value)
    assert server.sent_bytes < SENT_BYTES
    return caught.value


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not the JSON"),
        (b"{}", "not the JSON"),
        (FOREIGN.encode(), "not the JSON"),
        (json.dumps({"header": FOREIGN}).encode(), "not the JSON"),
        (range_answer({}), "not the JSON"),
        (range_answer({"key": encoded("/a/1")}), "not the JSON"),
        (range_answer(record("/a/1", mod_revision=FOREIGN)), "not the JSON"),
        (range_answer(record("/a/1", mod_revision="9" * 5000)), "not the JSON"),
        (range_answer(record("/a/1", value=7)), "not the JSON"),
        (range_answer(record("/a/1", value=[FOREIGN])), "not the JSON"),
        (range_answer(record("/a/1", value=f"%{FOREIGN}")), "not encoded as etcd does it"),
        (range_answer(record("/a/1", key=encoded(b"/a/\xff"))), "not encoded as etcd does it"),
        (range_answer(record(f"/{FOREIGN}")), "keys that were not asked for"),
        (range_answer(record("/a/2"), record("/a/1")), "keys that were not asked for"),
        (range_answer(record("/a/1"), record("/a/1")), "keys that were not asked for"),
        (range_answer(more=True), "keys that were not asked for"),
        (json.dumps({"header": HEADER, "kvs": FOREIGN}).encode(), "not the JSON"),
        (DEEP, "not the JSON"),
        (NESTED_UNKNOWN, "not the JSON"),
        (b'{"header":{"revision":"1"},"kvs":[{"key":"\xff\xfe"}]}', "not the JSON"),
    ],
)
async def test_an_answer_that_etcd_does_not_send_is_one_error(body: bytes, message: str) -> None:
    error = await list_from(answer_of(body))
    assert isinstance(error, MalformedAnswer)
    assert message in str(error)


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent"]
)
async def test_a_redirect_is_an_error_and_is_not_followed(status: str) -> None:
    with hostile_server(answer_of(range_answer())) as inner:
        error = await list_from(answer_of(b"", status, f"Location: {inner.url}/{FOREIGN}"))
    assert isinstance(error, MalformedAnswer)
    assert "it answers with a redirect" in str(error)
    assert inner.requests == []


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", FOREIGN])
async def test_a_compressed_answer_is_not_read(encoding: str) -> None:
    bomb = gzip_bomb(64 << 20)
    error = await list_from(answer_of(bomb, "200 OK", f"Content-Encoding: {encoding}"))
    assert isinstance(error, MalformedAnswer)
    assert "is compressed, which was not asked for" in str(error)


async def test_a_request_asks_for_an_answer_that_is_not_compressed() -> None:
    with hostile_server(answer_of(range_answer())) as server:
        async with EtcdClient(Endpoints([server.url])) as etcd:
            assert await etcd.list("/a/") == {}
    assert b"accept-encoding: identity" in server.requests[0].lower()


async def test_the_words_of_an_error_response_are_not_shown() -> None:
    error = await list_from(answer_of(FOREIGN.encode(), "500 Internal"))
    assert isinstance(error, RequestRejected)
    assert str(error).endswith("it answers with status 500")


async def test_an_error_code_of_etcd_is_explained_in_our_own_words() -> None:
    body = json.dumps({"error": FOREIGN, "code": 14, "message": FOREIGN}).encode()
    error = await list_from(answer_of(body, "503 Service Unavailable"))
    assert str(error).endswith("it answers with status 503: it has no leader, or is starting")


@pytest.mark.parametrize(
    "data",
    [
        f"SSH-2.0-{FOREIGN}\r\n".encode(),
        f"HTTP/1.1 {FOREIGN}\r\n\r\n".encode(),
        f"HTTP/1.1 200 OK\r\n{FOREIGN}\r\n\r\n".encode(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{",
        CHUNKED + FOREIGN.encode() + b"\r\n",
        b"",
    ],
)
async def test_an_answer_that_is_not_http_is_an_error_without_its_words(data: bytes) -> None:
    await list_from(raw_answer(data))


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (CHUNKED, CHUNK),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" " * 0x10000),
        (b"HTTP/1.1 500 Internal\r\n\r\n", b" " * 0x10000),
        (b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 4000 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 0x10000),
        (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" * 100),
    ],
    ids=["chunks", "body", "error", "headers", "one header", "responses"],
)
async def test_an_endless_answer_is_read_to_a_bound(head: bytes, piece: bytes) -> None:
    await list_from(endless_answer(head, piece))


async def test_a_slow_answer_ends_at_the_time_limit_of_a_request() -> None:
    error = await list_from(dripping_answer(CHUNKED, b"1\r\n \r\n", 0.01), timeout_seconds=0.3)
    assert isinstance(error, Unreachable)
    assert "no answer within 0.3 s" in str(error)


async def test_all_requests_of_a_client_have_one_time_limit() -> None:
    """Every answer arrives in time, but there is always one more page."""
    numbers = iter(range(1, 1_000_000))

    async def next_page(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        await answer_of(range_answer(record(f"/a/{next(numbers):06}"), more=True))(writer)

    error = await list_from(next_page, session_seconds=0.5)
    assert "not all answers within 0.5 s" in str(error)


async def test_a_list_is_read_to_a_number_of_keys() -> None:
    numbers = iter(range(1, 1_000_000))

    async def next_page(writer: asyncio.StreamWriter) -> None:
        page = [{"key": encoded(f"/a/{next(numbers):06}"), "mod_revision": "1"} for _ in range(500)]
        await answer_of(range_answer(*page, more=True))(writer)

    with hostile_server(next_page) as server:
        async with EtcdClient(Endpoints([server.url])) as etcd:
            with pytest.raises(MalformedAnswer, match="the server has more than 20000 keys below /a/"):
                await etcd.list("/a/")


async def test_small_answers_are_read_while_large_ones_fill_the_memory() -> None:
    memory = AnswerMemory(shared_bytes=0)
    large = record("/a/1", value=encoded(b"x" * (1 << 20)))
    error = await list_from(answer_of(range_answer(large)), memory=memory)
    assert "the answers of all topology servers are too large to be read at once" in str(error)
    with hostile_server(answer_of(range_answer(record("/a/1")))) as server:
        async with EtcdClient(Endpoints([server.url], memory=memory)) as etcd:
            assert set(await etcd.list("/a/")) == {"/a/1"}


async def test_memory_for_answers_is_given_back() -> None:
    memory = AnswerMemory(shared_bytes=2 << 20)
    large = range_answer(record("/a/1", value=encoded(b"x" * (1 << 20))))
    with hostile_server(answer_of(large)) as server:
        for _ in range(4):
            async with EtcdClient(Endpoints([server.url], memory=memory)) as etcd:
                assert len(await etcd.list("/a/")) == 1


async def test_only_scheme_host_and_port_of_an_endpoint_are_used() -> None:
    """A path, a query or a user name would let the author of a cluster choose the request."""
    with hostile_server(answer_of(range_answer())) as server:
        host = server.url.removeprefix("http://")
        async with EtcdClient(
            Endpoints([f"http://user:{FOREIGN}@{host}/admin/delete?really=yes&x="])
        ) as etcd:
            await etcd.list("/a/")
    [request] = server.requests
    assert request.startswith(b"POST /v3/kv/range HTTP/1.1\r\n")
    assert b"authorization" not in request.lower()


@pytest.mark.parametrize(
    "address", ["http://", "http://[::1", "ftp://host:1", "http://a b:1", "http://host:99999"]
)
async def test_an_endpoint_that_is_no_address_is_an_error(address: str) -> None:
    async with EtcdClient(Endpoints([address])) as etcd:
        with pytest.raises(Unreachable, match="an endpoint is not of the form"):
            await etcd.list("/a/")


async def test_another_endpoint_is_asked_after_a_malformed_answer() -> None:
    with (
        hostile_server(answer_of(b"{}")) as bad,
        hostile_server(answer_of(range_answer(record("/a/1")))) as good,
    ):
        async with EtcdClient(Endpoints([bad.url, good.url])) as etcd:
            assert set(await etcd.list("/a/")) == {"/a/1"}


async def test_a_message_names_the_first_endpoints_only() -> None:
    async with EtcdClient(Endpoints([f"http://127.0.0.1:{port}" for port in range(1, 21)])) as etcd:
        with pytest.raises(Unreachable, match=r"; and 17 more endpoints$"):
            await etcd.list("/a/")
