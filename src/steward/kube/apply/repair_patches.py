"""The JSON patches that remove what makes the API server reject an apply. Pure.

A 422 names a field of the object that the apply would have produced. Its list indexes count items of that object, which
was never stored. So a path is followed through every list item that manifest and live object share by name, and only
items that show the fault are patched.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from steward.kube.managed_fields.field_losses import FieldPath
from steward.kube.objects.kinds import Manifest

Operation = dict[str, Any]

_STEP: Final = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


class RejectionCause(NamedTuple):
    """One cause of the Status that rejects the apply, as sent by the API server."""

    reason: str
    field: str
    message: str


class FieldLocation(NamedTuple):
    """The values of one field in the live object and in the manifest, and its JSON pointer in the live object."""

    pointer: str
    live: Any
    desired: Any


def repair_operations(manifest: Manifest, live: Manifest, causes: list[RejectionCause]) -> list[Operation]:
    """The operations after which the manifest can be applied; none when the rejection has another reason."""
    operations: list[Operation] = []
    for cause in causes:
        steps = _STEP.findall(cause.field)
        if not steps:
            continue
        if cause.reason == "FieldValueDuplicate":
            repairs = _restore_merge_keys(manifest, live, steps)
        elif cause.reason == "FieldValueTypeInvalid":
            repairs = _empty_maps(manifest, live, steps, cause.message)
        else:
            repairs = _switch_union_member(manifest, live, steps, cause.message)
        operations += [operation for operation in repairs if operation not in operations]
    return operations


def restore_key_operations(manifest: Manifest, live: Manifest, names: Iterable[FieldPath]) -> list[Operation]:
    """As for a rejection because of duplicate names: for the names of items that got another merge key."""
    operations: list[Operation] = []
    for path in names:
        steps = [_step_of(name) for name in path]
        repairs = _restore_merge_keys(manifest, live, steps)
        operations += [operation for operation in repairs if operation not in operations]
    return operations


def _step_of(name: str) -> str:
    return name.removeprefix("f:") if name.startswith("f:") else "[]"


def _restore_merge_keys(manifest: Manifest, live: Manifest, steps: list[str]) -> Iterator[Operation]:
    """Live items with the duplicate value of one of our items get our fields, and keep what the server added."""
    *path, item, field = steps if len(steps) > 2 else ("", "", "", "")
    if not item.startswith("["):
        return
    for location in _locate(FieldLocation("", live, manifest), path):
        if not isinstance(location.live, list) or not isinstance(location.desired, list):
            continue
        ours = {desired[field]: desired for desired in location.desired if field in desired}
        items = [_with_our_key(live_item, ours.get(live_item.get(field), {})) for live_item in location.live]
        if items != location.live:
            yield {"op": "replace", "path": location.pointer, "value": items}


def _with_our_key(live: Manifest, ours: Manifest) -> Manifest:
    """A field that we leave out and that has the value of the changed key is the key's default, as the targetPort of a
    Service's port: without it the server derives it from our key."""
    changed = [live[name] for name, value in ours.items() if name in live and live[name] != value]
    kept = {name: value for name, value in live.items() if name in ours or value not in changed}
    return {**kept, **ours}


def _empty_maps(manifest: Manifest, live: Manifest, steps: list[str], message: str) -> Iterator[Operation]:
    """A map of a custom resource whose last key we drop: the server sets it to null, then rejects the null."""
    if not message.rstrip().endswith('"null"'):
        return
    for location in _locate(FieldLocation("", live, manifest), steps):
        if isinstance(location.live, dict | list) and not location.desired:
            if location.desired is None:
                yield {"op": "remove", "path": location.pointer}
            else:
                yield _set(location.pointer, location.desired)


def _set(pointer: str, value: Any) -> Operation:
    return {"op": "add", "path": pointer, "value": value}


def _switch_union_member(
    manifest: Manifest, live: Manifest, steps: list[str], message: str
) -> Iterator[Operation]:
    """The live object has a union member that the manifest does not have: remove it, and set ours."""
    for parent in _locate(FieldLocation("", live, manifest), steps[:-1]):
        yield from _drop_extra(parent, steps[-1], message)
    for location in _locate(FieldLocation("", live, manifest), steps):
        yield from _drop_named(location, message)


def _drop_extra(parent: FieldLocation, name: str, message: str) -> Iterator[Operation]:
    """The cause names a field of this map: remove that field or the one that it excludes."""
    if not isinstance(parent.live, dict) or not isinstance(parent.desired, dict):
        return
    extra = parent.live.keys() - parent.desired.keys()
    if name in extra:
        yield from _remove_members(parent, [name])
    elif name in parent.desired and name not in parent.live:
        named = [other for other in extra if _mentions(message, other)]
        yield from _remove_members(parent, named or list(extra) if len(extra) == 1 else named)


def _drop_named(location: FieldLocation, message: str) -> Iterator[Operation]:
    """The cause names the map, and its message the two fields that exclude each other."""
    if not isinstance(location.live, dict) or not isinstance(location.desired, dict):
        return
    extra = [name for name in location.live if name not in location.desired and _mentions(message, name)]
    if any(_mentions(message, name) for name in location.desired):
        yield from _remove_members(location, extra)


def _remove_members(location: FieldLocation, names: list[str]) -> Iterator[Operation]:
    if not names:
        return
    for name in sorted(names):
        yield {"op": "remove", "path": f"{location.pointer}/{_escaped(name)}"}
    for name, desired in location.desired.items():
        item = location.live.get(name)
        if item is None or (item != desired and not isinstance(item, dict | list)):
            yield _set(f"{location.pointer}/{_escaped(name)}", desired)


def _mentions(message: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", message) is not None


def _locate(location: FieldLocation, steps: list[str]) -> Iterator[FieldLocation]:
    """Every location that the steps can mean."""
    if not steps:
        yield location
        return
    step, rest = steps[0], steps[1:]
    if not step.startswith("["):
        if isinstance(location.live, dict) and isinstance(location.desired, dict):
            below = FieldLocation(
                f"{location.pointer}/{_escaped(step)}", location.live.get(step), location.desired.get(step)
            )
            yield from _locate(below, rest)
        return
    if isinstance(location.live, list) and isinstance(location.desired, list):
        ours = {item["name"]: item for item in location.desired if isinstance(item, dict) and "name" in item}
        for number, item in enumerate(location.live):
            if isinstance(item, dict) and item.get("name") in ours:
                yield from _locate(
                    FieldLocation(f"{location.pointer}/{number}", item, ours[item["name"]]), rest
                )


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
