"""JSON and base64/base32, as sprig offers them."""

from __future__ import annotations

from collections.abc import Callable

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.base_encoding import (
    decode_base32,
    decode_base64,
    encode_base32,
    encode_base64,
)
from steward.gotemplate.golang.json_encode import COMPACT, PRETTY, RAW, marshal
from steward.gotemplate.values import Value, byte_length, from_bytes, to_bytes

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
    from steward.gotemplate.golang.json_decode import unmarshal

    budget.build(4 * len(text))
    budget.work(len(text) // 2)
    return unmarshal(text)


def _spender(budget: Budget) -> Callable[[int], None]:
    """Every item costs its bytes and about four microseconds: one map held twice, sixty deep, has 2**60 items."""

    def spend(size: int) -> None:
        # As build and work do, in one call: a map of three keys takes no longer to write than two calls.
        budget.built -= size
        budget.steps -= 4 + size // 16
        if budget.built < 0 or budget.steps < 0:
            budget.build(0)
            budget.work(0)

    return spend


@table.budgeted("mustToJson(any) string")
def must_to_json(budget: Budget, value: Value) -> str:
    return marshal(value, COMPACT, _spender(budget))


@table.budgeted("toJson(any) string")
def to_json(budget: Budget, value: Value) -> str:
    try:
        return marshal(value, COMPACT, _spender(budget))
    except GoError:
        return ""


@table.budgeted("mustToPrettyJson(any) string")
def must_to_pretty_json(budget: Budget, value: Value) -> str:
    return marshal(value, PRETTY, _spender(budget))


@table.budgeted("toPrettyJson(any) string")
def to_pretty_json(budget: Budget, value: Value) -> str:
    try:
        return must_to_pretty_json(budget, value)
    except GoError:
        return ""


@table.budgeted("toRawJson(any) string")
@table.budgeted("mustToRawJson(any) string")
def to_raw_json(budget: Budget, value: Value) -> str:
    return marshal(value, RAW, _spender(budget))


@table.budgeted("b64enc(string) string")
def b64enc(budget: Budget, text: str) -> str:
    budget.build(byte_length(text) * 4 // 3)
    return encode_base64(to_bytes(text))


@table.budgeted("b32enc(string) string")
def b32enc(budget: Budget, text: str) -> str:
    budget.build(byte_length(text) * 8 // 5)
    return encode_base32(to_bytes(text))


@table.function("b64dec(string) string")
def b64dec(text: str) -> str:
    """What is no base64 gives Go's complaint as the result."""
    try:
        return from_bytes(decode_base64(to_bytes(text)))
    except GoError as error:
        return error.text


@table.budgeted("b32dec(string) string")
def b32dec(budget: Budget, text: str) -> str:
    budget.work(len(text) // 4)
    try:
        return from_bytes(decode_base32(to_bytes(text)))
    except GoError as error:
        return error.text
