"""Values of databases as text, and which texts mean active."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from steward.tenants.sources.values import UnreadableValue, is_active, to_text


@pytest.mark.parametrize("text", ["1", "true", "TRUE", "True", "yes", "YES", "Yes"])
def test_seven_texts_are_active(text: str) -> None:
    assert is_active(text)


@pytest.mark.parametrize(
    "text", ["", "0", "false", "no", "on", "ON", "Y", "y", "t", " 1", "1 ", "2", "tRUE", "-1"]
)
def test_everything_else_is_inactive(text: str) -> None:
    assert not is_active(text)


@pytest.mark.parametrize(
    ("value", "active"),
    [
        (True, True),
        (False, False),
        (1, True),
        (0, False),
        (Decimal(1), True),
        (1.0, True),
        (b"1", True),
        (None, False),
    ],
)
def test_numbers_and_booleans_are_active_by_their_text(value: Any, active: bool) -> None:
    assert is_active(to_text(value)) is active


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("{{ .uid }}", "{{ .uid }}"),
        (42, "42"),
        (2.5, "2.5"),
        (3.0, "3"),
        (1e300, "1e+300"),
        (Decimal("10.50"), "10.50"),
        (Decimal("1E+3"), "1000"),
        (True, "true"),
        ("é".encode(), "é"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC), "2026-01-02T03:04:05.25Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:04:05Z"),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(hours=30, seconds=1), "30:00:01"),
        (-timedelta(minutes=1), "-00:01:00"),
        (["a", 1], '["a",1]'),
        ({"ü": None}, '{"ü":null}'),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_a_value_is_converted_as_databases_print_it(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_bytes_that_are_not_utf8_are_unreadable() -> None:
    with pytest.raises(UnreadableValue, match="is not UTF-8"):
        to_text(b"a\xff")
