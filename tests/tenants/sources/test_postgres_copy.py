"""Parsing of COPY output, column types, and validation of messages of a PostgreSQL server."""

import asyncio
import struct
from contextlib import suppress

import pytest

from steward.tenants.api.source import PostgresSource, Tls
from steward.tenants.errors import SourceUnreachable
from steward.tenants.sources.postgres import PostgresReader
from steward.tenants.sources.postgres_columns import ColumnType, rows_query, types_query
from steward.tenants.sources.postgres_copy import CopyLines, copied_rows, copy_fields
from steward.tenants.sources.postgres_frames import MAX_MESSAGE_BYTES, MessageFrames
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Columns

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
    assert copy_fields(line) == fields


def test_lines_may_come_in_any_pieces() -> None:
    whole = b"a\tb\nc\\n\td\n"
    for size in range(1, len(whole) + 1):
        lines = CopyLines()
        pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
        assert [line for piece in pieces for line in lines.split(piece)] == [b"a\tb", b"c\\n\td"]
        assert lines.is_complete
    assert list(lines.split(b"half")) == []
    assert not lines.is_complete


@pytest.mark.parametrize(
    ("status", "count"), [("COPY 12", 12), ("COPY 0", 0), ("SELECT 1", -1), ("COPY", -1)]
)
def test_the_status_contains_the_number_of_rows(status: str, count: int) -> None:
    assert copied_rows(status) == count


def test_the_table_name_is_quoted_in_the_catalog_query() -> None:
    assert "E'\"s\".\"it''s \\\\\"'::pg_catalog.regclass" in types_query("s.it's \\")


def test_arrays_are_selected_as_json() -> None:
    kinds = {b"url": ColumnType(b"A", b"_text"), b"id": ColumnType(b"S", b"text")}
    assert (
        rows_query(COLUMNS, "customers", kinds)
        == 'SELECT "id", pg_catalog.to_json("url"), "active" FROM "customers"'
    )


def message(length: int, body: bytes = b"", letter: bytes = b"D") -> bytes:
    return letter + struct.pack(">i", length) + body


LIES = [
    *(message(length) for length in (-1, 0, 3, MAX_MESSAGE_BYTES + 1, -(2**31))),
    message(4, letter=b"\0"),
]


@pytest.mark.parametrize("lie", LIES)
def test_an_invalid_message_is_found_in_any_pieces(lie: bytes) -> None:
    stream = message(8, b"abcd") + message(4) + lie
    for size in (1, 3, 7, len(stream)):
        frames = MessageFrames()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert not all(frames.are_valid_with(piece) for piece in pieces)


def test_valid_messages_pass_in_any_pieces() -> None:
    stream = message(8, b"\xff\xff\xff\xff") + message(4) + message(1004, bytes(1000))
    for size in (1, 3, 7, 500, len(stream)):
        frames = MessageFrames()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert all(frames.are_valid_with(piece) for piece in pieces)


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
