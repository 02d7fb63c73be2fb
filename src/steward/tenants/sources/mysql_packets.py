"""The packets of a MySQL server that contain a result: columns, rows and the end of the rows. Pure.

Every length is checked against its packet: the parser of the driver reads what it is promised.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from asyncmy.constants import FIELD_TYPE
from asyncmy.converters import convert_datetime

OK: Final = 0x00
FILE_REQUEST: Final = 0xFB
END: Final = 0xFE
ERROR: Final = 0xFF
MORE_RESULTS: Final = 0x0008
_NULL: Final = 0xFB
_SIZES: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_COLUMN_TEXTS: Final = 6
"""Catalog, schema, table, original table, name, original name."""
_TYPE_OFFSET: Final = 7
"""After the length of the fixed fields, the character set and the width of the column."""
_BIT_BYTES: Final = 8

Value = bytes | None
ValueFormat = Callable[[bytes], Any]


class ServerText(NamedTuple):
    """A text in a packet, and the position after it."""

    value: Value
    end: int


def text_at(payload: bytes, at: int) -> ServerText:
    """The text at a position; ValueError if it is longer than the packet."""
    length, start = _length_at(payload, at)
    if length is None:
        return ServerText(None, start)
    end = start + length
    if end > len(payload):
        raise ValueError("a value is longer than its packet")
    return ServerText(payload[start:end], end)


def _length_at(payload: bytes, at: int) -> tuple[int | None, int]:
    first = payload[at]
    if first < _NULL:
        return first, at + 1
    if first == _NULL:
        return None, at + 1
    start = at + 1 + _SIZES[first]
    return int.from_bytes(payload[at + 1 : start], "little"), start


def column_count(payload: bytes) -> int:
    """ValueError where the server sends no rows, or requests a file."""
    if not payload or payload[0] in (OK, FILE_REQUEST):
        raise ValueError("the server sends no rows")
    count, end = _length_at(payload, 0)
    if count is None or end != len(payload):
        raise ValueError("the number of columns is invalid")
    return count


def column_format(payload: bytes) -> ValueFormat:
    """How values of a column are converted, from the packet that describes the column."""
    at = 0
    for _ in range(_COLUMN_TEXTS):
        at = text_at(payload, at).end
    return _FORMATS.get(payload[at + _TYPE_OFFSET], _unchanged)


def row_values(payload: bytes, formats: Sequence[ValueFormat]) -> list[Any]:
    """ValueError unless the packet has exactly one value for each column."""
    values: list[Any] = []
    at = 0
    for format_value in formats:
        value, at = text_at(payload, at)
        values.append(None if value is None else format_value(value))
    if at != len(payload):
        raise ValueError("a row has more columns than were requested")
    return values


def first_value(beginning: bytes, format_value: ValueFormat) -> Any:
    """The first value of a row of which only the beginning was kept. A longer one is cut."""
    length, start = _length_at(beginning, 0)
    if length is None:
        return None
    value = beginning[start : start + length]
    return format_value(value) if len(value) == length else value


def ends_rows(payload: bytes, has_ok_at_end: bool) -> bool:
    """A row that starts with this byte has 16 MiB, and never gets here."""
    return payload[0] == END and (has_ok_at_end or len(payload) < 9)


def has_more_results(payload: bytes, has_ok_at_end: bool) -> bool:
    """From the packet that ends the rows."""
    at = 1
    if has_ok_at_end:
        _, at = _length_at(payload, at)
        _, at = _length_at(payload, at)
    else:
        at += 2
    return bool(int.from_bytes(payload[at : at + 2], "little") & MORE_RESULTS)


def _unchanged(value: bytes) -> bytes:
    """As the server prints it."""
    return value


def _bit(value: bytes) -> int:
    if len(value) > _BIT_BYTES:
        raise ValueError("a value of type BIT is too long")
    return int.from_bytes(value, "big")


_FORMATS: Final[dict[int, ValueFormat]] = {
    FIELD_TYPE.BIT: _bit,
    FIELD_TYPE.DATETIME: convert_datetime,
    FIELD_TYPE.TIMESTAMP: convert_datetime,
}
