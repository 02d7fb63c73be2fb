"""Protobuf encoding of the records that the data plane stores in the topology server. Pure.

Written by hand: a code generator and its runtime would be too much for two small messages. Unknown fields are kept when
a record is rewritten, so that fields of a newer data plane are not lost.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
MAX_FIELDS = 1000
"""Of one message. The largest real one, a database in 50 cells, has about 60."""


class EncodedField(NamedTuple):
    """One encoded field: a number for varints, bytes for all other wire types."""

    number: int
    wire: int
    value: int | bytes


class MalformedRecord(ValueError):
    """Bytes that are no protobuf message, for example a value that another program wrote under the same key."""


def encode(fields: Iterable[EncodedField]) -> bytes:
    return b"".join(_encoded(field) for field in fields)


def text_field(number: int, value: str) -> list[EncodedField]:
    """A string field; empty strings are omitted as in proto3."""
    return [EncodedField(number, BYTES, value.encode())] if value else []


def number_field(number: int, value: int) -> list[EncodedField]:
    return [EncodedField(number, VARINT, value)] if value else []


def message_field(number: int, fields: Iterable[EncodedField]) -> EncodedField:
    return EncodedField(number, BYTES, encode(fields))


def _encoded(field: EncodedField) -> bytes:
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


def decode(data: bytes) -> list[EncodedField]:
    fields = list(islice(_decoded(data), MAX_FIELDS + 1))
    if len(fields) > MAX_FIELDS:
        raise MalformedRecord(f"it has more than {MAX_FIELDS} fields")
    return fields


def _decoded(data: bytes) -> Iterator[EncodedField]:
    position = 0
    while position < len(data):
        tag, position = _read_varint(data, position)
        wire = tag & 7
        value: int | bytes
        if wire == VARINT:
            value, position = _read_varint(data, position)
        else:
            value, position = _read_bytes(data, position, wire)
        yield EncodedField(tag >> 3, wire, value)


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


class DecodedMessage(NamedTuple):
    """Reads fields of a decoded message; of repeated values the last one counts, as in proto3."""

    fields: list[EncodedField]

    @classmethod
    def decode(cls, data: bytes) -> "DecodedMessage":
        return cls(decode(data))

    def text(self, number: int) -> str:
        value = self._last(number, b"")
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""

    def texts(self, number: int) -> list[str]:
        return [
            f.value.decode("utf-8", "replace")
            for f in self.fields
            if f.number == number and isinstance(f.value, bytes)
        ]

    def number(self, number: int) -> int:
        value = self._last(number, 0)
        return value if isinstance(value, int) else 0

    def message(self, number: int) -> "DecodedMessage":
        return DecodedMessage.decode(self.raw(number))

    def raw(self, number: int) -> bytes:
        value = self._last(number, b"")
        return b"" if isinstance(value, int) else value

    def _last(self, number: int, default: int | bytes) -> int | bytes:
        value = default
        for field in self.fields:
            if field.number == number:
                value = field.value
        return value


# Fields of a message that the operator writes: as a whole or, if the field is a message, only some of its fields.
OwnedFields = Mapping[int, "OwnedFields"]
WHOLE_FIELD: OwnedFields = {}


def merge_owned_fields(old: bytes, desired: Iterable[EncodedField], owned: OwnedFields) -> bytes:
    """Replaces the owned fields of a stored message by the desired ones and keeps all others, at every depth."""
    stored = decode(old)
    merged = [_merge_field(field, stored, owned) for field in desired]
    kept = [field for field in stored if field.number not in owned]
    return encode(sorted([*merged, *kept], key=lambda field: field.number))


def _merge_field(field: EncodedField, stored: list[EncodedField], owned: OwnedFields) -> EncodedField:
    nested = owned.get(field.number, WHOLE_FIELD)
    if not nested or isinstance(field.value, int):
        return field
    last = DecodedMessage(stored).raw(field.number)
    return field._replace(value=merge_owned_fields(last, decode(field.value), nested))


def is_equivalent(left: bytes, right: bytes, owned: OwnedFields) -> bool:
    """Whether two messages have equal fields, in any order."""
    return left == right or _normalized(left, owned) == _normalized(right, owned)


def _normalized(data: bytes, owned: OwnedFields) -> list[tuple[int, str]]:
    def value(field: EncodedField) -> str:
        nested = owned.get(field.number, WHOLE_FIELD)
        return repr(
            _normalized(field.value, nested) if nested and isinstance(field.value, bytes) else field.value
        )

    # The sort is stable, so that repeated fields keep their order.
    return [(field.number, value(field)) for field in sorted(decode(data), key=lambda field: field.number)]
