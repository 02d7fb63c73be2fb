"""`ignoreFields`: set once, then left to whoever wants them. Pure.

Server-side apply removes a field that its only owner no longer names, so ignored fields are never simply left out. A
second manager sets them: first with the whole object, because a required field may be among them, then reduced to the
ignored places alone. Our own manager never owns them; and where it did, because ignoreFields came later, the second
takes them over with their living values before the first lets go.

Each match is a place by itself. Inside a list without keys a place has no identity of its own: the whole list is
ignored there.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final

import msgspec

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import Kind, Manifest, kind_of
from steward.tenants.labels import BUCKET, CREATED_ONCE, DELETION_POLICY, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.jsonpath import Concrete, find, parse_path

# Lists of built-in kinds whose items have an identity, with what it is made of.
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
_MARKED: Final = (("metadata", "labels"), ("metadata", "annotations"))
_OURS: Final = frozenset({TENANT, TENANT_NAMESPACE, BUCKET, DELETION_POLICY, CREATED_ONCE})
Fields = Mapping[str, Any]
"""An entry of managedFields, decoded."""


def ignored_places(manifest: Manifest, expressions: Iterable[str]) -> tuple[Concrete, ...]:
    """Every place in the object that is ignored; a path that leads nowhere is harmless."""
    kind = kind_of(manifest)
    found = (place for text in expressions for place in find(manifest, parse_path(text)))
    whole = {_with_identity(place, kind) for place in found}
    single = {each for place in whole for each in _one_by_one(manifest, place)}
    return tuple(sorted((place for place in single if _may_be_ignored(place)), key=_order))


def widened(manifest: Manifest, expression: str) -> tuple[str, ...]:
    """The lists that are ignored as a whole although the path leads into them."""
    kind = kind_of(manifest)
    found = find(manifest, parse_path(expression))
    whole = {_with_identity(place, kind) for place in found} - set(found)
    return tuple(sorted(".".join(map(str, place)) for place in whole))


def _with_identity(place: Concrete, kind: Kind) -> Concrete:
    """The place itself, or the list without keys that it is in."""
    for position, step in enumerate(place):
        if isinstance(step, int) and not _is_keyed(place[:position], kind):
            return place[:position]
    return place


def _is_keyed(place: Concrete, kind: Kind) -> bool:
    return is_built_in(kind) and bool(place) and place[-1] in _KEYED


def _one_by_one(manifest: Manifest, place: Concrete) -> Iterable[Concrete]:
    """All labels and all annotations are each of them: some of those are ours."""
    return [(*place, name) for name in manifest["metadata"][place[1]]] if place in _MARKED else (place,)


def _may_be_ignored(place: Concrete) -> bool:
    """Who the object is, and whose, cannot be left to others."""
    if place[:1] != ("metadata",):
        return bool(place) and place[0] not in _IDENTITY
    return place[:2] in _MARKED and place[2] not in _OURS


def _order(place: Concrete) -> tuple[tuple[bool, str | int], ...]:
    return tuple((isinstance(step, int), step) for step in place)


def without(manifest: Manifest, places: Iterable[Concrete]) -> Manifest:
    """The object as our manager applies it."""
    reduced = deepcopy(manifest)
    # From behind, so that taking an item out of a list moves none that is still to go.
    for place in sorted(places, key=_order, reverse=True):
        _remove(reduced, place)
    return reduced


def _remove(document: Any, place: Concrete) -> None:
    *way, last = place
    for step in way:
        document = document[step]
    del document[last]


def seeded(manifest: Manifest, live: Manifest, places: Iterable[Concrete]) -> Manifest:
    """The object as the second manager applies it: who it is, and the living values at the given places."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name in ("name", "namespace")}
    seed: Manifest = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": metadata,
    }
    for place in places:
        value = value_at(live, manifest, place)
        if value is not None:
            _set(seed, manifest, place, value)
    return seed


def value_at(live: Any, manifest: Any, place: Concrete) -> Any:
    """What the living object holds at a place of the manifest: items of lists are found by their keys."""
    for position, step in enumerate(place):
        if isinstance(step, int):
            live = twin(live, manifest[step], str(place[position - 1]))
        else:
            live = live.get(step) if isinstance(live, dict) else None
        if live is None:
            return None
        manifest = manifest[step]
    return live


def twin(items: Any, item: Any, name: str) -> Any:
    """The item of a living list that has the same keys."""
    if not isinstance(items, list):
        return None
    keys = _keys_of(item, name)
    return next((other for other in items if isinstance(other, dict) and keys.items() <= other.items()), None)


def _keys_of(item: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: item[key] for key in _KEYED[name] if key in item}


def _set(seed: Any, manifest: Any, place: Concrete, value: Any) -> None:
    for position, step in enumerate(place[:-1]):
        seed = _entered(seed, manifest, place[: position + 1], place[position + 1])
        manifest = manifest[step]
    if isinstance(seed, list):
        seed.append(value)
    else:
        seed[place[-1]] = value


def _entered(seed: Any, manifest: Any, way: Concrete, following: str | int) -> Any:
    """The part of the seed below one step, made where it is not there yet."""
    step = way[-1]
    if not isinstance(step, int):
        return seed.setdefault(step, [] if isinstance(following, int) else {})
    keys = _keys_of(manifest[step], str(way[-2]))
    known = next((item for item in seed if keys.items() <= item.items()), None)
    if known is None:
        seed.append(known := keys)
    return known


def owned_places(
    fields: Fields | None, manifest: Manifest, places: Iterable[Concrete]
) -> tuple[Concrete, ...]:
    """Those places that an entry of managedFields names."""
    return tuple(place for place in places if fields is not None and _is_owned(fields, manifest, place))


def _is_owned(fields: Fields, manifest: Any, place: Concrete) -> bool:
    for step in place:
        if not fields:
            return True  # the whole value above is owned as one
        below = _below(fields, manifest[step] if isinstance(step, int) else None, step)
        if below is None:
            return False
        fields, manifest = below, manifest[step]
    return True


def _below(fields: Fields, item: Any, step: str | int) -> Fields | None:
    if not isinstance(step, int):
        found: Fields | None = fields.get(f"f:{step}")
        return found
    for name, below in fields.items():
        if name.startswith("k:") and msgspec.json.decode(name[2:]).items() <= _with_protocol(item).items():
            inside: Fields = below
            return inside
    return None


def _with_protocol(item: Mapping[str, Any]) -> dict[str, Any]:
    # The server's own default, which is part of a port's key.
    return {"protocol": "TCP", **item}
