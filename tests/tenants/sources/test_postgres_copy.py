"""What a PostgreSQL server sends, taken apart by ourselves: lines, columns, types, and messages that cannot be true."""

import asyncio
import struct
from contextlib import suppress

import pytest

from steward.tenants.api.source import PostgresSource, Tls
from steward.tenants.errors import Unreachable
from steward.tenants.sources.postgres import Postgres
from steward.tenants.sources.postgres_columns import Kind, rows_query, types_query
from steward.tenants.sources.postgres_copy import Lines, count_in, fields_of
from steward.tenants.sources.postgres_frames import LONGEST, Frames
from steward.tenants.sources.rows import Columns
from steward.tenants.sources.source import Credentials

COLUMNS = Columns("id", "url", "active")


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b"a\tb", [b"a", b"b"]),
        (b"\t\\N", [b"", None]),
        (b"one\\ntwo\\ttabs\\\\", [b"one\ntwo\ttabs\\"]),
        (b"\\\\x00ff\t\\\\N", [b"\\x00ff", b"\\N"]),
    ],
)
def test_a_line_is_a_row(line: bytes, fields: list[bytes | None]) -> None:
    assert fields_of(line) == fields


def test_lines_may_come_in_any_pieces() -> None:
    whole = b"a\tb\nc\\n\td\n"
    for size in range(1, len(whole) + 1):
        lines = Lines()
        pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
        assert [line for piece in pieces for line in lines.cut(piece)] == [b"a\tb", b"c\\n\td"]
        assert lines.is_whole
    assert list(lines.cut(b"half")) == []
    assert not lines.is_whole


@pytest.mark.parametrize(
    ("status", "count"), [("COPY 12", 12), ("COPY 0", 0), ("SELECT 1", -1), ("COPY", -1)]
)
def test_the_server_says_how_many_rows_it_sent(status: str, count: int) -> None:
    assert count_in(status) == count


def test_a_table_is_named_to_the_catalog_without_leaving_its_text() -> None:
    assert "E'\"s\".\"it''s \\\\\"'::pg_catalog.regclass" in types_query("s.it's \\")


def test_arrays_are_asked_for_as_json() -> None:
    kinds = {b"url": Kind(b"A", b"_text"), b"id": Kind(b"S", b"text")}
    assert (
        rows_query(COLUMNS, "customers", kinds)
        == 'SELECT "id", pg_catalog.to_json("url"), "active" FROM "customers"'
    )


def message(length: int, body: bytes = b"", letter: bytes = b"D") -> bytes:
    return letter + struct.pack(">i", length) + body


LIES = [*(message(length) for length in (-1, 0, 3, LONGEST + 1, -(2**31))), message(4, letter=b"\0")]


@pytest.mark.parametrize("lie", LIES)
def test_a_message_that_cannot_be_one_is_found_however_it_comes(lie: bytes) -> None:
    stream = message(8, b"abcd") + message(4) + lie
    for size in (1, 3, 7, len(stream)):
        frames = Frames()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert not all(frames.are_sound_with(piece) for piece in pieces)


def test_sound_messages_pass_in_any_pieces() -> None:
    stream = message(8, b"\xff\xff\xff\xff") + message(4) + message(1004, bytes(1000))
    for size in (1, 3, 7, 500, len(stream)):
        frames = Frames()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert all(frames.are_sound_with(piece) for piece in pieces)


@pytest.mark.parametrize("lie", LIES)
async def test_a_server_that_sends_what_cannot_be_is_hung_up_on(lie: bytes) -> None:
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
        with pytest.raises(Unreachable):
            await Postgres(source, Credentials("s3cret")).read(COLUMNS)
        await hung_up.wait()
