"""Decodes response bodies into dicts, or into views that declare the fields that are read.

A response of 200 that holds something else (the login page of a proxy, for example) raises ApiError.
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import Struct

from steward.kube.client.depth_limit import LIST_MEMBER_DEPTH, cut_deep_values
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


class _ListBody(Struct, Generic[T]):
    metadata: _ListMeta
    items: list[T] | None = None


def one(body: bytes, view: type[T]) -> T:
    return cast(T, _decode(_decoder(cast(Hashable, view)), body))


def page(body: bytes, kind: Kind, view: type[T]) -> Page[T]:
    decoder = _page_decoder(cast(Hashable, view))
    try:
        decoded: _ListBody[T] = _decode(decoder, body)
    except TooDeep:
        if view is not msgspec.Raw:
            raise
        decoded = _decode(decoder, cut_deep_values(body, LIST_MEMBER_DEPTH))
    items = decoded.items or []
    if view is dict:
        _set_kinds(cast(list[dict[str, Any]], items), kind)
    return Page(items, decoded.metadata.resource_version, decoded.metadata.more)


def _decode(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(200, "UnreadableAnswer", f"the response cannot be decoded: {error}") from error
    except RecursionError:
        raise TooDeep(200, "UnreadableAnswer", "the response is nested too deeply") from None


def _set_kinds(items: list[dict[str, Any]], kind: Kind) -> None:
    # The server leaves out apiVersion and kind of list items.
    for item in items:
        item.setdefault("apiVersion", kind.api_version)
        item.setdefault("kind", kind.kind)


@lru_cache(maxsize=256)
def _decoder(view: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast(type, view))


@lru_cache(maxsize=256)
def _page_decoder(view: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cast(Any, _ListBody)[view])
