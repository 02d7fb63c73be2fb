"""The wire form of the few messages that the data plane keeps in the topology server. Pure.

A code generator and its runtime would be much for two small messages: a table of field numbers does. Fields that we do
not know are kept as they are when a record is rewritten, so that a newer data plane loses nothing through us.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """One field as it stands on the wire; numbers for varints, bytes for everything else."""

    number: int
    wire: int
    value: int | bytes


class MalformedRecord(ValueError):
    """Bytes that are no message: somebody else's value under our key, or a torn write."""


def encode(fields: Iterable[Field]) -> bytes:
    return b"".join(_encoded(field) for field in fields)


def text(number: int, value: str) -> list[Field]:
    """A string field; empty strings are left out, as proto3 does."""
    return [Field(number, BYTES, value.encode())] if value else []


def number(number_: int, value: int) -> list[Field]:
    return [Field(number_, VARINT, value)] if value else []


def message(number_: int, fields: Iterable[Field]) -> Field:
    return Field(number_, BYTES, encode(fields))


def _encoded(field: Field) -> bytes:
    tag = _varint(field.number << 3 | field.wire)
    if isinstance(field.value, int):
        return tag + _varint(field.value)
    if field.wire == BYTES:
        return tag + _varint(len(field.value)) + field.value
    return tag + field.value


def _varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes) -> list[Field]:
    return list(_decoded(data))


def _decoded(data: bytes) -> Iterator[Field]:
    position = 0
    while position < len(data):
        tag, position = _read_varint(data, position)
        wire = tag & 7
        value: int | bytes
        if wire == VARINT:
            value, position = _read_varint(data, position)
        else:
            value, position = _read_bytes(data, position, wire)
        yield Field(tag >> 3, wire, value)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise MalformedRecord("a number runs past the end of the record")


def _read_bytes(data: bytes, position: int, wire: int) -> tuple[bytes, int]:
    if wire == BYTES:
        length, position = _read_varint(data, position)
    elif wire in _WIDTHS:
        length = _WIDTHS[wire]
    else:
        raise MalformedRecord(f"wire type {wire} is not used by the data plane")
    if position + length > len(data):
        raise MalformedRecord("a field runs past the end of the record")
    return data[position : position + length], position + length


class Record(NamedTuple):
    """Read access to a decoded message: the last value of a field counts, as proto3 has it."""

    fields: list[Field]

    @classmethod
    def of(cls, data: bytes) -> "Record":
        return cls(decode(data))

    def text(self, number_: int) -> str:
        value = self._last(number_, b"")
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""

    def texts(self, number_: int) -> list[str]:
        return [
            f.value.decode("utf-8", "replace")
            for f in self.fields
            if f.number == number_ and isinstance(f.value, bytes)
        ]

    def number(self, number_: int) -> int:
        value = self._last(number_, 0)
        return value if isinstance(value, int) else 0

    def message(self, number_: int) -> "Record":
        return Record.of(self.raw(number_))

    def raw(self, number_: int) -> bytes:
        value = self._last(number_, b"")
        return b"" if isinstance(value, int) else value

    def _last(self, number_: int, otherwise: int | bytes) -> int | bytes:
        found = otherwise
        for field in self.fields:
            if field.number == number_:
                found = field.value
        return found


# Which fields of a message are ours to write: as a whole, or, where it is a message, in part only.
Known = Mapping[int, "Known"]
WHOLE: Known = {}


def rewritten(old: bytes, ours: Iterable[Field], of: Known) -> bytes:
    """`ours` in place of every field that we know, with what we do not know kept, at every depth."""
    before = decode(old)
    merged = [_merged(field, before, of) for field in ours]
    kept = [field for field in before if field.number not in of]
    return encode(sorted([*merged, *kept], key=lambda field: field.number))


def _merged(field: Field, before: list[Field], of: Known) -> Field:
    below = of.get(field.number, WHOLE)
    if not below or isinstance(field.value, int):
        return field
    last = Record(before).raw(field.number)
    return field._replace(value=rewritten(last, decode(field.value), below))


def same_meaning(left: bytes, right: bytes, of: Known) -> bool:
    """Whether two records say the same, in whatever order their fields were written."""
    return left == right or _meaning(left, of) == _meaning(right, of)


def _meaning(data: bytes, of: Known) -> list[tuple[int, str]]:
    def value(field: Field) -> str:
        below = of.get(field.number, WHOLE)
        return repr(_meaning(field.value, below) if below and isinstance(field.value, bytes) else field.value)

    # Repeated fields have an order of their own, which a stable sort keeps.
    return [(field.number, value(field)) for field in sorted(decode(data), key=lambda field: field.number)]
