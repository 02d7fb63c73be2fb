"""`ignoreFields`: fields that are set once and then left to other managers. Pure.

Server-side apply removes a field that its only owner no longer applies, so ignored fields cannot simply be omitted. A
second field manager, the seeding manager, sets them: first with the complete object, because a required field may be
among them, then reduced to the ignored fields. The main manager never owns them. Where it did, because ignoreFields was
added later, the seeding manager applies them with their live values before the main manager omits them.

`replace` needs no second manager: it sends the object with all ignored fields as they are on the live object. This
includes ignored fields that are absent there, and those that only the live object has: otherwise an annotation that a
controller writes could not be kept at all.

Each match is a path of its own. Items of a list without keys cannot be addressed: there, the complete list is ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import msgspec

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import Kind, Manifest, kind_of
from steward.tenants.labels import BUCKET, CREATED_ONCE, DELETION_POLICY, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.jsonpath import FieldPath, matching_paths, parse_path

# Lists of built-in kinds whose items have keys (x-kubernetes-list-map-keys), with the names of the keys.
_KEYED: Final[Mapping[str, tuple[str, ...]]] = {
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ports": ("containerPort", "port", "protocol"),
    "resourceClaims": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
_IDENTITY: Final = frozenset({"apiVersion", "kind"})
_METADATA_MAPS: Final = (("metadata", "labels"), ("metadata", "annotations"))
_TRACKING_NAMES: Final = frozenset({TENANT, TENANT_NAMESPACE, BUCKET, DELETION_POLICY, CREATED_ONCE})
Fields = Mapping[str, Any]
"""An entry of managedFields, decoded."""


def ignored_paths(manifest: Manifest, expressions: Iterable[str]) -> tuple[FieldPath, ...]:
    """The path of every ignored field in the object. An expression without a match is ignored."""
    kind = kind_of(manifest)
    found = (path for text in expressions for path in matching_paths(manifest, parse_path(text)))
    addressable = {_addressable_path(path, kind) for path in found}
    single = {each for path in addressable for each in _expand_metadata_map(manifest, path)}
    return tuple(sorted((path for path in single if _may_be_ignored(path)), key=_order))


def widened_lists(manifest: Manifest, expression: str) -> tuple[str, ...]:
    """Lists that are ignored completely although the expression matches only inside them."""
    kind = kind_of(manifest)
    found = matching_paths(manifest, parse_path(expression))
    widened = {_addressable_path(path, kind) for path in found} - set(found)
    return tuple(sorted(".".join(map(str, path)) for path in widened))


def _addressable_path(path: FieldPath, kind: Kind) -> FieldPath:
    """The path itself, or the path of the list without keys that contains it."""
    for position, step in enumerate(path):
        if isinstance(step, int) and not _is_keyed(path[:position], kind):
            return path[:position]
    return path


def _is_keyed(path: FieldPath, kind: Kind) -> bool:
    return is_built_in(kind) and bool(path) and path[-1] in _KEYED


def _expand_metadata_map(manifest: Manifest, path: FieldPath) -> Iterable[FieldPath]:
    """Replaces all labels or all annotations by each of them: the operator needs some of them itself."""
    return [(*path, name) for name in manifest["metadata"][path[1]]] if path in _METADATA_MAPS else (path,)


def _may_be_ignored(path: FieldPath) -> bool:
    """Identity and ownership of the object cannot be ignored."""
    if path[:1] != ("metadata",):
        return bool(path) and path[0] not in _IDENTITY
    return path[:2] in _METADATA_MAPS and path[2] not in _TRACKING_NAMES


def _order(path: FieldPath) -> tuple[tuple[bool, str | int], ...]:
    return tuple((isinstance(step, int), step) for step in path)


def without_fields(manifest: Manifest, paths: Iterable[FieldPath]) -> Manifest:
    """The object as the main manager applies it."""
    reduced = deepcopy(manifest)
    # In reverse order: removing a list item then shifts no item that is still to be removed.
    for path in sorted(paths, key=_order, reverse=True):
        _remove(reduced, path)
    return reduced


def _remove(document: Any, path: FieldPath) -> None:
    *parents, last = path
    for step in parents:
        document = document[step]
    del document[last]


def seed_manifest(manifest: Manifest, live: Manifest, paths: Iterable[FieldPath]) -> Manifest:
    """The object as the seeding manager applies it: its identity, and the live values of the given fields."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name in ("name", "namespace")}
    seed: Manifest = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": metadata,
    }
    for path in paths:
        value = live_value(live, manifest, path)
        if value is not None:
            _set_in_seed(seed, manifest, path, value)
    return seed


def live_value(live: Any, manifest: Any, path: FieldPath) -> Any:
    """The value that the live object has at a path of the manifest. List items are matched by their keys."""
    for position, step in enumerate(path):
        if isinstance(step, int):
            live = matching_item(live, manifest[step], str(path[position - 1]))
        else:
            live = live.get(step) if isinstance(live, dict) else None
        if live is None:
            return None
        manifest = manifest[step]
    return live


def matching_item(items: Any, item: Any, name: str) -> Any:
    """The item of a live list that has the same keys."""
    if not isinstance(items, list):
        return None
    keys = _item_keys(item, name)
    return next((other for other in items if isinstance(other, dict) and keys.items() <= other.items()), None)


def _item_keys(item: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: item[key] for key in _KEYED[name] if key in item}


def _set_in_seed(seed: Any, manifest: Any, path: FieldPath, value: Any) -> None:
    for position, step in enumerate(path[:-1]):
        seed = _enter_seed(seed, manifest, path[: position + 1], path[position + 1])
        manifest = manifest[step]
    if isinstance(seed, list):
        seed.append(value)
    else:
        seed[path[-1]] = value


def _enter_seed(seed: Any, manifest: Any, parents: FieldPath, following: str | int) -> Any:
    """The child of the seed at one step of the path, created where it is missing."""
    step = parents[-1]
    if not isinstance(step, int):
        return seed.setdefault(step, [] if isinstance(following, int) else {})
    keys = _item_keys(manifest[step], str(parents[-2]))
    child = next((item for item in seed if keys.items() <= item.items()), None)
    if child is None:
        seed.append(child := keys)
    return child


def owned_paths(
    fields: Fields | None, manifest: Manifest, paths: Iterable[FieldPath]
) -> tuple[FieldPath, ...]:
    """The paths that an entry of managedFields owns."""
    return tuple(path for path in paths if fields is not None and _is_owned(fields, manifest, path))


def _is_owned(fields: Fields, manifest: Any, path: FieldPath) -> bool:
    for step in path:
        if not fields:
            return True  # the parent value is owned as a whole
        children = _child_fields(fields, manifest[step] if isinstance(step, int) else None, step)
        if children is None:
            return False
        fields, manifest = children, manifest[step]
    return True


def _child_fields(fields: Fields, item: Any, step: str | int) -> Fields | None:
    if not isinstance(step, int):
        found: Fields | None = fields.get(f"f:{step}")
        return found
    for name, children in fields.items():
        if name.startswith("k:") and msgspec.json.decode(name[2:]).items() <= _with_protocol(item).items():
            inside: Fields = children
            return inside
    return None


def _with_protocol(item: Mapping[str, Any]) -> dict[str, Any]:
    # The default of the API server, which is part of the key of a port.
    return {"protocol": "TCP", **item}


def with_live_fields(manifest: Manifest, live: Manifest, expressions: Sequence[str]) -> Manifest:
    """The manifest with all ignored fields as they are on the live object."""
    paths = ignored_paths(manifest, expressions)
    merged = deepcopy(manifest)
    for path in paths:
        value = live_value(live, manifest, path)
        if value is not None:
            _set_value(merged, path, value)
    merged = without_fields(
        merged, [path for path in _outermost(paths) if live_value(live, manifest, path) is None]
    )
    for path in ignored_paths(live, expressions):
        _add_live_field(merged, live, path)
    return merged


def _outermost(paths: Sequence[FieldPath]) -> list[FieldPath]:
    """Drops paths inside another path: a value that is ignored completely is present or absent completely."""
    all_paths = set(paths)
    return [path for path in paths if not any(path[:size] in all_paths for size in range(len(path)))]


def _set_value(document: Any, path: FieldPath, value: Any) -> None:
    *parents, last = path
    for step in parents:
        document = document[step]
    document[last] = value


def _add_live_field(part: Any, live: Any, path: FieldPath) -> None:
    """Adds a field that only the live object has, except inside list items that the manifest does not have."""
    *parents, last = path
    for position, step in enumerate(parents):
        part = _enter_live(part, live, path[: position + 2])
        live = live[step]
    if isinstance(last, int):
        _add_item(part, live[last], str(parents[-1]))
    elif isinstance(part, dict):
        part.setdefault(last, live[last])


def _enter_live(part: Any, live: Any, parents: FieldPath) -> Any:
    *_, step, following = parents
    if isinstance(step, int):
        return matching_item(part, live[step], str(parents[-3]))
    return part.setdefault(step, [] if isinstance(following, int) else {}) if isinstance(part, dict) else None


def _add_item(items: Any, item: Any, name: str) -> None:
    if isinstance(items, list) and matching_item(items, item, name) is None:
        items.append(item)
