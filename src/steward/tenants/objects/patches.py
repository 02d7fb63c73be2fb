"""The patches of the strategies `merge`, which adds to the live object, and `replace`, which makes it equal. Pure.

Both patches contain the resourceVersion that they were computed from. A dry run shows whether one would change
anything, because only the API server knows its defaults; its result is compared with the live object.

For each there is a second patch for the case that the API server rejects the first. A strategic merge can only add to
a list: a port with a new number would be added next to the old one, so the second patch sets the complete list. And
values that the API server has written to immutable fields, such as the volume of a claim or the selector of a Job,
are kept in an object that is replaced.
"""

from collections.abc import Iterator
from typing import Any, Final

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import Manifest, kind_of
from steward.kube.objects.patches import JsonPatch, MergePatch, Patch, StrategicPatch

# Labels and annotations that controllers of the cluster write. They would add them again at once if they were removed.
_CLUSTER_DOMAINS: Final = ("kubernetes.io", "k8s.io")
_IDENTITY: Final = ("apiVersion", "kind", "metadata", "status")
_BOOKKEEPING: Final = frozenset({"managedFields", "resourceVersion", "generation"})
_NOT_COMPARED: Final = _BOOKKEEPING | {"status"}
MOST_CHANGED_PATHS: Final = 20


def merge_patch(manifest: Manifest, live: Manifest) -> Patch:
    """Strategic for built-in kinds, JSON merge patch for custom kinds."""
    changes = _with_resource_version(manifest, live)
    return StrategicPatch(changes) if is_built_in(kind_of(manifest)) else MergePatch(changes)


def json_merge_patch(manifest: Manifest, live: Manifest) -> Patch:
    """Sets complete lists."""
    return MergePatch(_with_resource_version(manifest, live))


def _with_resource_version(manifest: Manifest, live: Manifest) -> Manifest:
    version = live["metadata"]["resourceVersion"]
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}


def replace_patch(manifest: Manifest, live: Manifest) -> Patch:
    """Replaces everything but identity, status, finalizers, and the labels and annotations of the cluster."""
    body = {name: value for name, value in manifest.items() if name not in _IDENTITY}
    operations = [{"op": "add", "path": f"/{_escaped(name)}", "value": body[name]} for name in body]
    surplus = [name for name in live if name not in body and name not in _IDENTITY]
    operations += [{"op": "remove", "path": f"/{_escaped(name)}"} for name in surplus]
    for field in ("labels", "annotations"):
        marks = {**_cluster_metadata(live, field), **(manifest["metadata"].get(field) or {})}
        operations.append({"op": "add", "path": f"/metadata/{field}", "value": marks})
    owners = manifest["metadata"].get("ownerReferences") or []
    operations.append({"op": "add", "path": "/metadata/ownerReferences", "value": owners})
    return JsonPatch.at_version(live["metadata"]["resourceVersion"], operations)


def merged_with_live(manifest: Manifest, live: Manifest) -> Manifest:
    """The manifest merged over the live object: fields that it does not mention are kept."""
    body = {name: _merge(live.get(name), value) for name, value in manifest.items() if name not in _IDENTITY}
    return {**manifest, **body}


def _merge(base: Any, overlay: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(overlay, dict):
        return overlay
    return {**base, **{name: _merge(base.get(name), value) for name, value in overlay.items()}}


def _cluster_metadata(live: Manifest, field: str) -> dict[str, str]:
    found: dict[str, str] = live["metadata"].get(field) or {}
    return {name: value for name, value in found.items() if name.partition("/")[0].endswith(_CLUSTER_DOMAINS)}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def is_unchanged(live: Manifest, dry_run_result: Manifest) -> bool:
    """Whether a dry run would leave the object as it is, apart from bookkeeping fields."""
    return _content(live) == _content(dry_run_result)


def _content(manifest: Manifest) -> Manifest:
    metadata = {
        name: value for name, value in manifest["metadata"].items() if name not in _BOOKKEEPING and value
    }
    return {**manifest, "metadata": metadata}


def changed_paths(previous: Any, current: Any) -> tuple[str, ...]:
    """The paths at which two versions of an object differ, never the values; at most MOST_CHANGED_PATHS."""
    found = _paths(previous or {}, current, "")
    return tuple(path for path, _ in zip(found, range(MOST_CHANGED_PATHS), strict=False))


def _paths(previous: Any, current: Any, path: str) -> Iterator[str]:
    if previous == current:
        return
    if isinstance(previous, dict) and isinstance(current, dict):
        for name in sorted(previous.keys() | current.keys()):
            if name not in _NOT_COMPARED:
                yield from _paths(previous.get(name), current.get(name), f"{path}.{name}")
    elif isinstance(previous, list) and isinstance(current, list) and len(previous) == len(current):
        for index, (old, new) in enumerate(zip(previous, current, strict=True)):
            yield from _paths(old, new, f"{path}[{index}]")
    else:
        yield path
