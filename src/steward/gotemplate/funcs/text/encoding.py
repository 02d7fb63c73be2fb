"""JSON and base64/base32, as sprig offers them."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.base_encoding import (
    decode_base32,
    decode_base64,
    encode_base32,
    encode_base64,
)
from steward.gotemplate.golang.json.encode import marshal
from steward.gotemplate.golang.json.scalars import COMPACT, PRETTY, RAW
from steward.gotemplate.values.values import Value, byte_length, from_bytes, to_bytes

table = Table()


@table.budgeted("mustFromJson(string) any")
def must_from_json(budget: Budget, text: str) -> Value:
    value, misfit = _decoded(budget, text)
    if misfit is not None:
        raise misfit
    return value


@table.budgeted("fromJson(string) any")
def from_json(budget: Budget, text: str) -> Value:
    """What cannot be read is nil; a number too large for a float64 is nil in its place."""
    try:
        return _decoded(budget, text)[0]
    except GoError:
        return None


def _decoded(budget: Budget, text: str) -> tuple[Value, GoError | None]:
    from steward.gotemplate.golang.json.decode import unmarshal

    budget.build(4 * len(text))
    budget.work(len(text) // 2)
    return unmarshal(text)


@table.budgeted("mustToJson(any) string")
def must_to_json(budget: Budget, value: Value) -> str:
    return marshal(value, COMPACT, budget.spend)


@table.budgeted("toJson(any) string")
def to_json(budget: Budget, value: Value) -> str:
    try:
        return marshal(value, COMPACT, budget.spend)
    except GoError:
        return ""


@table.budgeted("mustToPrettyJson(any) string")
def must_to_pretty_json(budget: Budget, value: Value) -> str:
    return marshal(value, PRETTY, budget.spend)


@table.budgeted("toPrettyJson(any) string")
def to_pretty_json(budget: Budget, value: Value) -> str:
    try:
        return must_to_pretty_json(budget, value)
    except GoError:
        return ""


@table.budgeted("toRawJson(any) string")
@table.budgeted("mustToRawJson(any) string")
def to_raw_json(budget: Budget, value: Value) -> str:
    return marshal(value, RAW, budget.spend)


@table.budgeted("b64enc(string) string")
def b64enc(budget: Budget, text: str) -> str:
    budget.build(byte_length(text) * 4 // 3)
    return encode_base64(to_bytes(text))


@table.budgeted("b32enc(string) string")
def b32enc(budget: Budget, text: str) -> str:
    budget.build(byte_length(text) * 8 // 5)
    return encode_base32(to_bytes(text))


@table.budgeted("b64dec(string) string")
def b64dec(budget: Budget, text: str) -> str:
    """What is no base64 gives Go's complaint as the result."""
    budget.build(len(text))
    try:
        return from_bytes(decode_base64(to_bytes(text)))
    except GoError as error:
        return error.text


@table.budgeted("b32dec(string) string")
def b32dec(budget: Budget, text: str) -> str:
    budget.build(len(text))
    try:
        return from_bytes(decode_base32(to_bytes(text)))
    except GoError as error:
        return error.text
