"""Merges levels of configuration and records which level each value comes from.

A field that a level sets replaces the value of the levels below; a field that it omits is left as it is. Absent, zero
and an empty list are different. `resources`, `storage`, a cell's topology server, Kubernetes types and lists are
replaced as a whole; other structs merge field by field, pools and labels key by key. Inputs are not modified.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from steward.multigres.api.compute import Resources, Storage
from steward.multigres.api.scalars import ApiStruct
from steward.multigres.api.topo import LocalTopoServer

P = TypeVar("P", bound=ApiStruct)

ATOMIC_PARTS = (Resources, Storage, LocalTopoServer)
KEYED_FIELDS = frozenset({"pools", "pod_labels", "pod_annotations"})
Path = tuple[str, ...]


class Layer(NamedTuple):
    """One level. `source` is its name for users: `built-in`, `ShardTemplate standard`, `spec`."""

    source: str
    part: ApiStruct


class Merged(NamedTuple):
    """A merged struct, with the source of every value in it."""

    part: Any
    origins: Mapping[Path, str]


def merge_layers(empty: P, layers: Iterable[Layer]) -> tuple[P, dict[Path, str]]:
    """Merges the layers over `empty`; the last one has the highest precedence."""
    merged: Merged = Merged(empty, {})
    for layer in layers:
        merged = _merge_part(merged, layer.part, layer.source, ())
    return merged.part, dict(merged.origins)


def _merge_part(below: Merged, part: ApiStruct, source: str, path: Path) -> Merged:
    changes: dict[str, Any] = {}
    origins = below.origins
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if value is UNSET:
            continue
        merged = _merge_value(Merged(getattr(below.part, name), origins), value, source, (*path, name))
        changes[name], origins = merged
    return Merged(msgspec.structs.replace(below.part, **changes), origins)


def _merge_value(below: Merged, value: Any, source: str, path: Path) -> Merged:
    if path[-1] in KEYED_FIELDS and isinstance(value, dict):
        return _merge_keyed(below, value, source, path)
    if isinstance(value, ApiStruct) and not isinstance(value, ATOMIC_PARTS):
        if isinstance(below.part, type(value)):
            return _merge_part(below, value, source, path)
        if not _has_required_fields(type(value)):
            return _merge_part(Merged(type(value)(), below.origins), value, source, path)
    return Merged(value, {**_without_path(below.origins, path), path: source})


@cache
def _has_required_fields(part: type[ApiStruct]) -> bool:
    """Such a struct has no empty instance to merge into; the first level that sets it provides all of it."""
    return any(field.required for field in msgspec.structs.fields(part))


def _merge_keyed(below: Merged, value: dict[str, Any], source: str, path: Path) -> Merged:
    merged = dict(below.part) if isinstance(below.part, dict) else {}
    origins = below.origins
    for key, entry in value.items():
        merged[key], origins = _merge_value(
            Merged(merged.get(key, UNSET), origins), entry, source, (*path, key)
        )
    return Merged(merged, origins)


def _without_path(origins: Mapping[Path, str], path: Path) -> dict[Path, str]:
    return {other: source for other, source in origins.items() if other[: len(path)] != path}
