"""Answers into values: dicts, or views that declare the fields that are read.

An answer of 200 that is something else (the login page of a proxy, say) is an error of the tree like any other.
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import Struct

from steward.kube.client.depth_limit import IN_LIST, shallow
from steward.kube.errors import ApiError, TooDeep
from steward.kube.objects.kinds import Kind

T = TypeVar("T")


class Listing(Struct, Generic[T], frozen=True):
    items: list[T]
    resource_version: str


class Page(Struct, Generic[T], frozen=True):
    items: list[T]
    resource_version: str
    more: str
    """Token of the next page; "" on the last one."""


class _ListMeta(Struct, rename="camel"):
    resource_version: str = ""
    more: str = msgspec.field(default="", name="continue")


class _Answer(Struct, Generic[T]):
    metadata: _ListMeta
    items: list[T] | None = None


def one(body: bytes, view: type[T]) -> T:
    return cast(T, _read(_decoder(cast(Hashable, view)), body))


def page(body: bytes, kind: Kind, view: type[T]) -> Page[T]:
    decoder = _page_decoder(cast(Hashable, view))
    try:
        answer: _Answer[T] = _read(decoder, body)
    except TooDeep:
        if view is not msgspec.Raw:
            raise
        answer = _read(decoder, shallow(body, IN_LIST))
    items = answer.items or []
    if view is dict:
        _name_kinds(cast(list[dict[str, Any]], items), kind)
    return Page(items, answer.metadata.resource_version, answer.metadata.more)


def _read(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(200, "UnreadableAnswer", f"the answer is not what was asked for: {error}") from error
    except RecursionError:
        raise TooDeep(200, "UnreadableAnswer", "the answer holds what is nested too deeply") from None


def _name_kinds(items: list[dict[str, Any]], kind: Kind) -> None:
    # Inside a list the server leaves out what the list already says.
    for item in items:
        item.setdefault("apiVersion", kind.api_version)
        item.setdefault("kind", kind.kind)


@lru_cache(maxsize=256)
def _decoder(view: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast(type, view))


@lru_cache(maxsize=256)
def _page_decoder(view: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast(Any, _Answer)[view])
