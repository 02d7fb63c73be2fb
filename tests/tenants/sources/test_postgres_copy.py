"""Parsing of COPY output, and how columns are selected."""

import pytest

from steward.tenants.sources.postgres_columns import ColumnType, rows_query, types_query
from steward.tenants.sources.postgres_copy import CopyLines, LongLine, copied_rows, copy_fields
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


@pytest.mark.parametrize("size", [1, 7, 4000, 100_000])
def test_of_a_line_that_is_too_long_only_the_beginning_is_kept(size: int) -> None:
    whole = b"a\tb\n" + b"c\t" + b"x" * 20_000 + b"\nd\te\n"
    lines = CopyLines(max_bytes=10_000)
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    found = [line for piece in pieces for line in lines.split(piece)]
    assert found == [b"a\tb", LongLine(whole[4:][:4096]), b"d\te"]
    assert lines.is_complete


def test_a_line_that_never_ends_takes_no_memory() -> None:
    lines = CopyLines(max_bytes=10_000)
    for _ in range(1000):
        assert list(lines.split(b"x" * 5_000)) == []
    assert not lines.is_complete
    assert len(lines._line) <= 10_000


@pytest.mark.parametrize(
    ("status", "count"),
    [("COPY 12", 12), ("COPY 0", 0), ("SELECT 1", -1), ("COPY", -1), ("COPY " + "9" * 5000, -1)],
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
