"""Packets of a MySQL server that contain columns and rows, and lies about them."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.tenants.sources.mysql_packets import (
    column_count,
    column_format,
    ends_rows,
    first_value,
    has_more_results,
    row_values,
)
from tests.attacks.support.hostile_mysql import column, row, text

PLAIN = [bytes, bytes, bytes]


def test_a_row_has_a_value_for_each_column() -> None:
    assert row_values(row(b"a", b"", b"x" * 70_000), PLAIN) == [b"a", b"", b"x" * 70_000]
    assert row_values(b"\xfb\xfc\x01\x00b\xfe" + struct.pack("<Q", 1) + b"c", PLAIN) == [None, b"b", b"c"]


@pytest.mark.parametrize(
    "payload",
    [
        row(b"a", b"b"),
        row(b"a", b"b", b"c", b"d"),
        b"\x01a\x05b",
        b"\x01a\x01b\xfe" + struct.pack("<Q", 1 << 62) + b"c",
        b"\x01a\x01b\xfd\xff",
        b"\x01a\x01b\xff",
        b"",
    ],
)
def test_a_row_with_other_values_is_invalid(payload: bytes) -> None:
    with pytest.raises((ValueError, LookupError)):
        row_values(payload, PLAIN)


@given(st.binary(max_size=60))
def test_no_row_is_read_beyond_its_end(payload: bytes) -> None:
    try:
        values = row_values(payload, PLAIN)
    except (ValueError, LookupError):
        return
    assert sum(len(value) for value in values if value is not None) < len(payload)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [(253, b"a", b"a"), (16, b"\x01\x02", 258), (12, b"0000-00-00 00:00:00", "0000-00-00 00:00:00")],
)
def test_the_type_of_a_column_decides_how_values_are_converted(
    kind: int, value: bytes, expected: Any
) -> None:
    assert column_format(column(b"id", kind))(value) == expected


@pytest.mark.parametrize("payload", [b"", b"\x03def", column(b"id")[:20], b"\xfe" + b"\xff" * 8])
def test_an_invalid_column_is_an_error(payload: bytes) -> None:
    with pytest.raises((ValueError, LookupError)):
        column_format(payload)


def test_a_bit_that_is_too_long_is_an_error() -> None:
    with pytest.raises(ValueError, match="BIT"):
        column_format(column(b"id", 16))(bytes(9))


@pytest.mark.parametrize("payload", [b"", b"\x00\x00", b"\xfb/etc/passwd", b"\x03\x03", b"\xfd\x01"])
def test_a_result_without_rows_is_an_error(payload: bytes) -> None:
    with pytest.raises((ValueError, LookupError)):
        column_count(payload)


def test_the_number_of_columns_is_read() -> None:
    assert column_count(b"\x03") == 3
    assert column_count(b"\xfc\x00\x01") == 256


def test_the_uid_is_read_from_the_beginning_of_a_row() -> None:
    assert first_value(text(b"a") + b"\xfd\xff\xff\xffxxx", bytes) == b"a"
    assert first_value(b"\xfb\xfd\xff\xff\xffxxx", bytes) is None
    assert first_value(b"\xfd\xff\xff\xff" + b"x" * 4000, bytes) == b"x" * 4000


def test_the_end_of_the_rows_and_another_result_are_recognized() -> None:
    assert ends_rows(b"\xfe\0\0\x02\0", has_ok_at_end=False)
    assert not ends_rows(b"\xfe" + bytes(8), has_ok_at_end=False)
    assert ends_rows(b"\xfe\0\0\x02\0\0\0and a long message", has_ok_at_end=True)
    assert has_more_results(b"\xfe\0\0\x0a\0", has_ok_at_end=False)
    assert not has_more_results(b"\xfe\0\0\x02\0", has_ok_at_end=False)
    assert has_more_results(b"\xfe\0\0\x0a\0\0\0", has_ok_at_end=True)
