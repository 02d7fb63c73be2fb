"""Addresses of views: one path for each object that has a view, and the filters of a list as its query. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from steward.kube.objects.kinds import Key, Ref

_VIEWED_KINDS: Final = {"MultigresCluster": "cluster", "TenantRegistry": "registry", "Tenant": "tenant"}
_FILTERS: Final = ("q", "template", "state", "offset")


class ViewKind(StrEnum):
    NOW = "now"
    CLUSTER = "cluster"
    REGISTRY = "registry"
    TENANT = "tenant"


class ViewAddress(NamedTuple):
    """What a view shows; `filters` are sorted, so that equal views are equal keys."""

    kind: ViewKind
    key: Key = Key("", "")
    filters: tuple[tuple[str, str], ...] = ()

    def filter(self, name: str) -> str:
        return dict(self.filters).get(name, "")

    @property
    def offset(self) -> int:
        text = self.filter("offset")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def parse_address(address: str) -> ViewAddress | None:
    """The view of an address such as `/cluster/shop/db?q=…`; None if there is none."""
    parts = urlsplit(address)
    filters = _known_filters(dict(parse_qsl(parts.query)))
    match [part for part in parts.path.split("/") if part]:
        case [] | ["now"]:
            return ViewAddress(ViewKind.NOW)
        case [("cluster" | "registry" | "tenant") as kind, namespace, name]:
            return ViewAddress(ViewKind(kind), Key(namespace, name), filters)
        case _:
            return None


def _known_filters(query: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, query[name][:200]) for name in sorted(_FILTERS) if query.get(name))


def object_address(ref: Ref) -> str:
    """The address of the view of an object; "" if it has none of its own."""
    kind = _VIEWED_KINDS.get(ref.kind.kind)
    return _path(kind, ref.key) if kind else ""


def registry_address(key: Key, **filters: str) -> str:
    chosen = {name: value for name, value in filters.items() if value}
    return _path("registry", key) + (f"?{urlencode(chosen)}" if chosen else "")


def _path(kind: str, key: Key) -> str:
    return f"/{kind}/{quote(key.namespace, safe='')}/{quote(key.name, safe='')}"
