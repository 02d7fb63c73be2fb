"""Which rows become Tenants, and why others are rejected."""

import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.tenants.errors import BrokenRead
from steward.tenants.sources.rows import Columns, Row, RowRejection, RowSorter, rows_digest, sort_rows

COLUMNS = Columns("id", "url", "active", (("planId", "plan"),))
LONG = "x" * (1 << 20)


def row(uid: Any, activate: Any = 1, plan: Any = "gold") -> tuple[Any, ...]:
    return (uid, "https://x", activate, plan)


def test_active_rows_keep_their_values_by_variable() -> None:
    rows = sort_rows(COLUMNS, [row("a"), row(7, True, None), row("c", 0)])
    assert rows.active == (
        Row("a", "https://x", "1", {"planId": "gold"}),
        Row("7", "https://x", "true", {"planId": ""}),
    )
    assert rows.inactive == {"c"}
    assert rows.rejected == ()
    assert rows.total == 3


@pytest.mark.parametrize(
    ("uid", "problem"),
    [
        (None, "is NULL"),
        ("", "is empty"),
        ("  ", "is empty"),
        ("a\0b", "NUL character"),
        ("x" * 254, "longer than 253 bytes"),
        ("ü" * 127, "longer than 253 bytes"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_an_invalid_uid_rejects_only_its_row(uid: Any, problem: str) -> None:
    rows = sort_rows(COLUMNS, [row("a"), row(uid), row("b", 0)])
    assert [found.uid for found in rows.active] == ["a"]
    assert rows.inactive == {"b"}
    assert problem in rows.rejected[0].reason
    assert rows.total == 3


@pytest.mark.parametrize("states", [(1, 1), (1, 0), (0, 1), (0, 0), (1, 0, 1)])
def test_rows_of_one_uid_are_all_rejected(states: tuple[int, ...]) -> None:
    rows = sort_rows(COLUMNS, [*(row("a", state) for state in states), row("b")])
    assert [found.uid for found in rows.active] == ["b"]
    assert rows.inactive == frozenset()
    assert rows.rejected == (RowRejection("a", f"{len(states)} rows have this uid: leave one of them"),)


def add_all(sorter: RowSorter, table: Iterable[tuple[Any, ...]]) -> None:
    for found in table:
        sorter.add(found)


def test_a_table_that_is_too_large_is_not_read_to_its_end() -> None:
    with pytest.raises(BrokenRead, match="its first 5 rows take 4 MiB: read a view"):
        add_all(RowSorter(COLUMNS, 4 << 20), (row(f"t{number}", plan="x" * 1_000_000) for number in count()))
    with pytest.raises(BrokenRead, match="take 1 MiB"):
        add_all(RowSorter(COLUMNS, 1 << 20), (row(f"t{number}", activate=0) for number in count()))
    with pytest.raises(BrokenRead, match="take 1 MiB"):
        add_all(RowSorter(COLUMNS, 1 << 20), (row(LONG, activate=0) for _ in count()))


def endless_rows(letter: str, columns: int, activate: bytes) -> Iterator[tuple[bytes, ...]]:
    value = letter.encode() * 20
    return ((b"%d" % number, value, activate, *[value] * columns) for number in count())


@pytest.mark.parametrize("letter", ["x", "ü", "漢", "\U0001f4a5"])
@pytest.mark.parametrize(("columns", "activate"), [(1, b"1"), (100, b"1"), (1, b"0"), (1, b"\xff")])
def test_the_memory_of_a_table_stays_below_its_limit(letter: str, columns: int, activate: bytes) -> None:
    """In bytes of the process, whatever the characters and the number of columns, for rows of each class."""
    extra = tuple((f"v{number}", f"c{number}") for number in range(columns))
    sorter, limit = RowSorter(Columns("id", "url", "active", extra), 1 << 20), 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(BrokenRead):
            add_all(sorter, endless_rows(letter, columns, activate))
        rows_digest(sorter.rows())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert limit / 4 < held < limit * 1.1


def test_a_row_that_is_too_large_is_rejected_alone() -> None:
    table = [row("a"), row("b", plan=LONG), row(LONG), row("c", plan=b"x" * (1 << 20)), row("d", 0)]
    rows = sort_rows(COLUMNS, table)
    assert [found.uid for found in rows.active] == ["a"]
    assert rows.inactive == {"d"}
    assert [found.uid for found in rows.rejected] == ["b", "x" * 254, "c"]
    assert "more than 1048576 bytes together" in rows.rejected[0].reason
    assert "its uid is longer than 253 bytes" in rows.rejected[1].reason


def test_a_cut_uid_rejects_no_row_with_a_valid_uid() -> None:
    longest = "x" * 253
    rows = sort_rows(COLUMNS, [row(longest), row(longest + "y" * 1000), row(b"\xc3\xbc" * 500)])
    assert [found.uid for found in rows.active] == [longest]
    assert [len(found.uid) for found in rows.rejected] == [254, 254]


VALUES = st.one_of(
    st.none(),
    st.binary(max_size=400),
    st.text(st.characters(exclude_categories=[]), max_size=400),
    st.integers(-(2**63), 2**64),
    st.floats(),
    st.datetimes(),
    st.sampled_from(
        [b"x" * 2_000_000, "\ud800", "\0", b"[" * 100_000, "{{ .uid }}", b"\xff\xfe", "1", "../.."]
    ),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.large_base_example, HealthCheck.data_too_large])
@given(st.lists(st.lists(VALUES, min_size=4, max_size=4), max_size=8))
def test_no_row_stops_the_others(hostile: list[list[Any]]) -> None:
    rows = sort_rows(COLUMNS, [*hostile, row("the only honest row")])
    assert rows.total == len(hostile) + 1
    assert "the only honest row" in {found.uid for found in rows.active}
    rows_digest(rows)
    assert all(found.shown.isprintable() and found.reason for found in rows.rejected)


def test_a_value_that_is_no_text_rejects_its_row_and_names_the_column() -> None:
    rows = sort_rows(COLUMNS, [row("a", plan=b"\xff"), row("a")])
    assert rows.active == ()
    assert rows.rejected == (RowRejection("a", "its column plan is not UTF-8 (byte 0): correct it"),)


def test_a_rejected_uid_is_shown_short_and_printable() -> None:
    assert RowRejection("a\0b", "").shown == "a\ufffdb"
    assert len(RowRejection("x" * 1_000_000, "").shown) == 61


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([None, "", "a", "b", "c", "a\0"]), st.sampled_from([0, 1, None]))))
def test_every_uid_is_in_exactly_one_class(table: list[tuple[Any, Any]]) -> None:
    rows = sort_rows(COLUMNS, [row(*found) for found in table])
    active = [found.uid for found in rows.active]
    rejected = {found.uid for found in rows.rejected}
    assert len(set(active)) == len(active)
    assert not set(active) & rows.inactive
    assert not rejected & (set(active) | rows.inactive)
    assert {uid or "" for uid, _ in table} == {*active, *rows.inactive, *rejected}


def test_equal_tables_have_equal_digests_and_different_ones_do_not() -> None:
    rows = [row("acme"), row("bob", 0), row(None)]
    tables = [rows, rows[:2], rows[:1], [row("acme", plan="pro"), *rows[1:]], [*rows, row("acme")]]
    digests = [rows_digest(sort_rows(COLUMNS, table)) for table in tables]
    assert len(set(digests)) == len(tables)
    assert rows_digest(sort_rows(COLUMNS, rows)) == digests[0]
