from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from steward.local.images.availability import (
    describe_unavailable,
    missing_images,
    registry_answers,
    unavailable_images,
)
from steward.local.ports import free_ports


@asynccontextmanager
async def _server(answer: bytes) -> AsyncIterator[str]:
    """Answers every connection with these bytes; without bytes, never."""
    connections: list[asyncio.StreamWriter] = []

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        writer.write(answer)

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in connections:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@pytest.mark.parametrize(
    ("status", "answers"),
    [("200 OK", True), ("401 Unauthorized", True), ("404 Not Found", True), ("503 Unavailable", False)],
)
async def test_a_registry_answers_with_any_status_but_its_own_failure(status: str, answers: bool) -> None:
    async with _server(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()) as host:
        assert await registry_answers(host) is answers


async def test_a_refused_connection_is_no_registry() -> None:
    [port] = free_ports(1)
    assert not await registry_answers(f"127.0.0.1:{port}")


async def test_a_host_that_never_answers_is_no_registry() -> None:
    async with _server(b"") as host:
        assert not await registry_answers(host, timeout_seconds=0.2)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "not a host", "[::1"])
async def test_an_unresolvable_host_is_no_registry(host: str) -> None:
    assert not await registry_answers(host)


def test_missing_images_are_compared_by_full_name() -> None:
    needed = ["app:1", "ghcr.io/team/app:1", "app:1"]
    assert missing_images(needed, ["docker.io/library/app:1"]) == ["ghcr.io/team/app:1"]


async def test_an_image_that_can_be_pulled_is_available() -> None:
    [port] = free_ports(1)
    async with _server(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as host:
        needed = [f"{host}/app:1", f"127.0.0.1:{port}/other:1"]
        assert await unavailable_images(needed, []) == [f"127.0.0.1:{port}/other:1"]


@pytest.mark.parametrize(
    ("names", "begins"),
    [
        (["a:1"], "The image a:1 is in no archive and no registry answers for it: save it"),
        (["a:1", "b:1"], "The images a:1, b:1 are in no archive and no registry answers for them: save them"),
    ],
)
def test_unavailable_images_are_reported_by_name_with_the_cure(names: list[str], begins: str) -> None:
    assert describe_unavailable(names).startswith(begins)
