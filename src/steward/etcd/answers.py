"""Decodes answers of etcd's JSON gateway. Pure.

Every field that is read has a type and a bound, and what does not fit is one error without any of its bytes.
"""

import base64
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from steward.etcd.errors import MalformedAnswer

T = TypeVar("T")

_Revision = Annotated[str, Meta(pattern="^[0-9]{1,19}$")]


class KeyValue(NamedTuple):
    value: bytes
    revision: int


class KeyRange(NamedTuple):
    """The keys from `first` up to `end`, at most `limit` of them. An end of one zero byte is after all keys."""

    first: bytes
    end: bytes
    limit: int

    def holds(self, key: bytes) -> bool:
        return self.first <= key and (key < self.end or self.end == b"\0")


class RangePage(NamedTuple):
    """Keys in ascending order, and whether more follow the last one."""

    found: dict[str, KeyValue]
    last: bytes
    has_more: bool


class _Header(Struct, gc=False):
    revision: _Revision


class _KeyValue(Struct, gc=False):
    key: str
    mod_revision: _Revision
    value: str = ""


class _Range(Struct):
    header: _Header
    """Every answer of etcd has one: a server that answers `{}` to any request is not etcd."""
    kvs: list[_KeyValue] = []
    more: bool = False


class _Transaction(Struct):
    header: _Header
    succeeded: bool = False


class _Failure(Struct):
    code: int = 0


# The gateway reports the status codes of gRPC.
_FAILURES = {
    3: "it rejects the request as invalid",
    7: "it denies access to these keys",
    8: "its storage is full, or it is overloaded",
    14: "it has no leader, or is starting",
    16: "it requires another client certificate",
}


def decode_range(answer: bytes | bytearray, expected: KeyRange) -> RangePage:
    """Keys outside the range or out of order are an error: a list that they extend would never end."""
    page = _decode(answer, _Range)
    try:
        found = {base64.b64decode(kv.key, validate=True): _key_value(kv) for kv in page.kvs}
        by_text = {key.decode(): value for key, value in found.items()}
    except ValueError:
        raise MalformedAnswer("a key or value in its answer is not encoded as etcd does it") from None
    keys = list(found)
    is_ordered = keys == sorted(keys) and len(keys) == len(page.kvs) <= expected.limit
    if not is_ordered or not all(map(expected.holds, keys)) or (page.more and not keys):
        raise MalformedAnswer("its answer holds keys that were not asked for")
    return RangePage(by_text, keys[-1] if keys else b"", page.more)


def decode_transaction(answer: bytes | bytearray) -> bool:
    """Whether the conditions held and the changes were made."""
    return _decode(answer, _Transaction).succeeded


def describe_failure(answer: bytes | bytearray) -> str:
    """What an error response means; "" if it is not from etcd."""
    try:
        return _FAILURES.get(_decode(answer, _Failure).code, "")
    except MalformedAnswer:
        return ""


def _decode(answer: bytes | bytearray, of: type[T]) -> T:
    try:
        return msgspec.json.decode(answer, type=of)
    # RecursionError: deeper than any document of etcd. The cause is left out because it quotes the document.
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise MalformedAnswer("its answer is not the JSON that etcd's gateway sends") from None


def _key_value(kv: _KeyValue) -> KeyValue:
    return KeyValue(base64.b64decode(kv.value, validate=True), int(kv.mod_revision))
