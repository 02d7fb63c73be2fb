"""Laying one level of configuration over another, and knowing afterwards where each value came from.

A level that says something wins over every level below it; a level that leaves a field out changes nothing. Absent,
zero and an empty list are three different things. `resources`, `storage`, a cell's topology server and what Kubernetes
defines are replaced as a whole, lists too; other parts merge field by field, pools and labels key by key. Nothing is
changed in place.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from steward.multigres.api.compute import Resources, Storage
from steward.multigres.api.scalars import Part
from steward.multigres.api.topo import LocalTopoServer

P = TypeVar("P", bound=Part)
T = TypeVar("T")

ATOMIC_PARTS = (Resources, Storage, LocalTopoServer)
KEYED_FIELDS = frozenset({"pools", "pod_labels", "pod_annotations"})
Path = tuple[str, ...]


class Layer(NamedTuple):
    """One level's say. `source` is how a person would name it: `built-in`, `ShardTemplate standard`, `spec`."""

    source: str
    part: Part


class Laid(NamedTuple):
    """The outcome, with the source of every value in it."""

    part: Any
    origins: Mapping[Path, str]


def lay(empty: P, layers: Iterable[Layer]) -> tuple[P, dict[Path, str]]:
    """Lays the layers over each other, the first lowest."""
    laid: Laid = Laid(empty, {})
    for layer in layers:
        laid = _over(laid, layer.part, layer.source, ())
    return laid.part, dict(laid.origins)


def _over(below: Laid, part: Part, source: str, path: Path) -> Laid:
    changes: dict[str, Any] = {}
    origins = below.origins
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if value is UNSET:
            continue
        laid = _value(Laid(getattr(below.part, name), origins), value, source, (*path, name))
        changes[name], origins = laid
    return Laid(msgspec.structs.replace(below.part, **changes), origins)


def _value(below: Laid, value: Any, source: str, path: Path) -> Laid:
    if path[-1] in KEYED_FIELDS and isinstance(value, dict):
        return _keyed(below, value, source, path)
    if isinstance(value, Part) and not isinstance(value, ATOMIC_PARTS):
        if isinstance(below.part, type(value)):
            return _over(below, value, source, path)
        if not _needs_something(type(value)):
            return _over(Laid(type(value)(), below.origins), value, source, path)
    return Laid(value, {**_without(below.origins, path), path: source})


@cache
def _needs_something(part: type[Part]) -> bool:
    """Whether there is no empty one to lay fields over: it starts as a whole."""
    return any(field.required for field in msgspec.structs.fields(part))


def _keyed(below: Laid, value: dict[str, Any], source: str, path: Path) -> Laid:
    merged = dict(below.part) if isinstance(below.part, dict) else {}
    origins = below.origins
    for key, entry in value.items():
        merged[key], origins = _value(Laid(merged.get(key, UNSET), origins), entry, source, (*path, key))
    return Laid(merged, origins)


def _without(origins: Mapping[Path, str], path: Path) -> dict[Path, str]:
    return {known: source for known, source in origins.items() if known[: len(path)] != path}


def given(value: T | msgspec.UnsetType, otherwise: T) -> T:
    return otherwise if isinstance(value, msgspec.UnsetType) else value
