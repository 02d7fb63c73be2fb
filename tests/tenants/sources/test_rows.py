"""Which rows become Tenants, and why others are rejected."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.errors import BrokenRead
from steward.tenants.sources.rows import Columns, Row, RowRejection, rows_digest, sort_rows

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


def test_a_table_that_is_too_large_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.tenants.sources.rows.MAX_BYTES", 4 << 20)
    with pytest.raises(BrokenRead, match="its first 4 rows take 4 MiB: read a view"):
        sort_rows(COLUMNS, (row(f"t{number}", plan=LONG) for number in count()))
    with pytest.raises(BrokenRead, match="its first 4 rows"):
        sort_rows(COLUMNS, (row(LONG, activate=0) for _ in count()))


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
