"""Validation of messages of a PostgreSQL server before the driver parses them."""

import asyncio
import struct
from contextlib import suppress

import pytest

from steward.postgres.frames import (
    MAX_LOGIN_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_OTHER_BYTES,
    InvalidMessage,
    MessageFrames,
)
from steward.tenants.api.source import PostgresSource, Tls
from steward.tenants.errors import SourceUnreachable
from steward.tenants.sources.postgres import PostgresReader
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Columns

COLUMNS = Columns("id", "url", "active")


def message(length: int, body: bytes = b"", letter: bytes = b"D") -> bytes:
    return letter + struct.pack(">i", length) + body


def login(hashes: int) -> bytes:
    content = b"\0\0\0\x0br=nonce,s=c2FsdA==,i=%d" % hashes
    return message(4 + len(content), content, b"R")


def pass_on(stream: bytes, size: int) -> bytes:
    frames = MessageFrames()
    return b"".join(frames.pass_on(stream[start : start + size]) for start in range(0, len(stream), size))


LIES = [
    *(message(length) for length in (-1, 0, 3, MAX_MESSAGE_BYTES + 1, -(2**31))),
    message(4, letter=b"\0"),
    message(4, letter=b"d"),
    message(MAX_LOGIN_BYTES + 1, letter=b"R"),
    login(600_001),
    login(10**4000),
]


@pytest.mark.parametrize("lie", LIES)
def test_an_invalid_message_is_found_in_any_pieces(lie: bytes) -> None:
    stream = message(8, b"abcd") + message(4) + lie
    for size in (1, 3, 7, len(stream)):
        with pytest.raises(InvalidMessage):
            pass_on(stream, size)


def test_valid_messages_pass_in_any_pieces() -> None:
    stream = message(8, b"\xff\xff\xff\xff") + message(4) + login(4096) + message(1004, bytes(1000))
    for size in (1, 3, 7, 500, len(stream)):
        assert pass_on(stream, size) == stream


def test_rows_are_passed_on_in_pieces_as_they_arrive() -> None:
    """A row of any size: the driver never has to keep it."""
    frames = MessageFrames()
    assert frames.pass_on(message(2**31 - 1, b"abc", b"d")) == message(7, b"abc", b"d")
    for _ in range(100):
        assert frames.pass_on(b"x" * 1000) == message(1004, b"x" * 1000, b"d")


def test_a_login_message_is_passed_on_when_it_is_complete() -> None:
    frames = MessageFrames()
    whole = login(4096)
    assert frames.pass_on(whole[:20]) == b""
    assert frames.pass_on(whole[20:]) == whole


def test_all_messages_that_are_no_rows_have_a_limit_together() -> None:
    notice = message(100_004, bytes(100_000), b"N")
    few = MAX_OTHER_BYTES // len(notice)
    assert pass_on(notice * few, 1 << 20) == notice * few
    with pytest.raises(InvalidMessage, match="too large"):
        pass_on(notice * (few + 1), 1 << 20)


@pytest.mark.parametrize("lie", LIES)
async def test_the_connection_to_a_server_with_invalid_messages_is_closed(lie: bytes) -> None:
    hung_up = asyncio.Event()

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(lie)
        with suppress(OSError):
            await reader.read(100)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        hung_up.set()

    async with await asyncio.start_server(send, "127.0.0.1", 0) as server:
        source = PostgresSource(
            host="127.0.0.1",
            port=server.sockets[0].getsockname()[1],
            username="reader",
            database="saas",
            table="customers",
            tls=Tls(mode="disable"),
        )
        with pytest.raises(SourceUnreachable):
            await PostgresReader(source, SourceCredentials("s3cret")).read(COLUMNS)
        await hung_up.wait()
