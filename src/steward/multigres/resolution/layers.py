"""Merges levels of configuration and records which level each value comes from.

A field that a level sets replaces the value of the levels below; a field that it omits is left as it is. Absent, zero
and an empty list are different. `resources`, `storage`, a cell's topology server, Kubernetes types and lists are
replaced as a whole; other structs merge field by field, pools and labels key by key. Inputs are not modified.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from steward.multigres.api.backup import BackupRetention
from steward.multigres.api.compute import PoolStorage, Resources, Storage
from steward.multigres.api.scalars import ApiStruct
from steward.multigres.api.topo import LocalTopoServer

P = TypeVar("P", bound=ApiStruct)

ATOMIC_PARTS = (Resources, Storage, PoolStorage, LocalTopoServer, BackupRetention)
KEYED_FIELDS = frozenset({"pools", "pod_labels", "pod_annotations", "settings"})
BUILT_IN = "built-in"
"""The source of values that no level sets."""
WHOLE = None
Path = tuple[str, ...]
Origins = dict[str | None, Any]
"""The source of each field, or the origins below it; WHOLE is the source of a part that a level set as a whole."""


class Layer(NamedTuple):
    """One level. `source` is its name for users: `built-in`, `ShardTemplate standard`, `spec`."""

    source: str
    part: ApiStruct


class _Level(NamedTuple):
    """The source of a layer, and the origins of the part that it is merged into."""

    source: str
    origins: Origins

    def nested(self, name: str) -> "_Level":
        known = self.origins.get(name, {})
        nested = known if isinstance(known, dict) else {WHOLE: known}
        self.origins[name] = nested
        return _Level(self.source, nested)


def merge_layers(empty: P, layers: Iterable[Layer]) -> tuple[P, Origins]:
    """Merges the layers over `empty`; the last one has the highest precedence."""
    merged, origins = empty, Origins()
    for layer in layers:
        merged = _merge_part(merged, layer.part, _Level(layer.source, origins))
    return merged, origins


def _merge_part(below: Any, part: ApiStruct, level: _Level) -> Any:
    changes: dict[str, Any] = {}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if value is not UNSET:
            changes[name] = _merge_value(getattr(below, name), value, name, level)
    return msgspec.structs.replace(below, **changes)


def _merge_value(below: Any, value: Any, name: str, level: _Level) -> Any:
    if name in KEYED_FIELDS and isinstance(value, dict):
        return _merge_keyed(below, value, level.nested(name))
    if isinstance(value, ApiStruct) and not isinstance(value, ATOMIC_PARTS):
        if isinstance(below, type(value)):
            return _merge_part(below, value, level.nested(name))
        if not _has_required_fields(type(value)):
            return _merge_part(type(value)(), value, level.nested(name))
    level.origins[name] = level.source
    return value


@cache
def _has_required_fields(part: type[ApiStruct]) -> bool:
    """Such a struct has no empty instance to merge into; the first level that sets it provides all of it."""
    return any(field.required for field in msgspec.structs.fields(part))


def _merge_keyed(below: Any, value: dict[str, Any], level: _Level) -> dict[str, Any]:
    merged = dict(below) if isinstance(below, dict) else {}
    for key, entry in value.items():
        merged[key] = _merge_value(merged.get(key, UNSET), entry, key, level)
    return merged


class FlatOrigins(Mapping[Path, str]):
    """The source of each value by its full path. Derived at the first access: only explanations need it."""

    def __init__(self, parts: Mapping[Path, Origins]) -> None:
        self._parts = parts

    @cached_property
    def _sources(self) -> dict[Path, str]:
        return {
            path: source for start, origins in self._parts.items() for path, source in _flat(start, origins)
        }

    def __getitem__(self, path: Path) -> str:
        return self._sources[path]

    def __iter__(self) -> Iterator[Path]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def _flat(path: Path, origins: Origins) -> Iterator[tuple[Path, str]]:
    for name, known in origins.items():
        if isinstance(known, dict):
            yield from _flat((*path, str(name)), known)
        else:
            yield (path if name is WHOLE else (*path, name)), known
