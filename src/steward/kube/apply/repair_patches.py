"""What stands in the way of an apply, and the JSON patch that clears it. Pure.

A 422 names a field of the object that the apply would have made. Its numbers count items in that object, which nobody
has, so a path is followed through every item of a list that manifest and live object have in common by name, and
only an item that shows the very fault is touched.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from steward.kube.objects.kinds import Manifest

Operation = dict[str, Any]

_STEP: Final = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


class Cause(NamedTuple):
    """Why the server refuses: one cause of a Status, as it comes."""

    reason: str
    field: str
    message: str


class Place(NamedTuple):
    """The same place in the live object and in the manifest, and its pointer in the live object."""

    pointer: str
    live: Any
    desired: Any


def clearing(manifest: Manifest, live: Manifest, causes: list[Cause]) -> list[Operation]:
    """The operations that let the manifest through; none when the refusal has another reason."""
    operations: list[Operation] = []
    for cause in causes:
        steps = _STEP.findall(cause.field)
        if not steps:
            continue
        if cause.reason == "FieldValueDuplicate":
            found = _rename(manifest, live, steps)
        elif cause.reason == "FieldValueTypeInvalid":
            found = _empty(manifest, live, steps, cause.message)
        else:
            found = _switch_branch(manifest, live, steps, cause.message)
        operations += [operation for operation in found if operation not in operations]
    return operations


def _rename(manifest: Manifest, live: Manifest, steps: list[str]) -> Iterator[Operation]:
    """Items that share the doubled value with one of ours become ours, and keep what the server gave them."""
    *path, item, field = steps if len(steps) > 2 else ("", "", "", "")
    if not item.startswith("["):
        return
    for place in _follow(Place("", live, manifest), path):
        if not isinstance(place.live, list) or not isinstance(place.desired, list):
            continue
        ours = {wanted[field]: wanted for wanted in place.desired if field in wanted}
        items = [{**held, **ours.get(held.get(field), {})} for held in place.live]
        if items != place.live:
            yield {"op": "replace", "path": place.pointer, "value": items}


def _empty(manifest: Manifest, live: Manifest, steps: list[str], message: str) -> Iterator[Operation]:
    """A map of a custom resource whose last key we drop: the server makes it null, and then refuses null."""
    if not message.rstrip().endswith('"null"'):
        return
    for place in _follow(Place("", live, manifest), steps):
        if isinstance(place.live, dict | list) and not place.desired:
            goes = place.desired is None
            yield {"op": "remove", "path": place.pointer} if goes else _set(place.pointer, place.desired)


def _set(pointer: str, value: Any) -> Operation:
    return {"op": "add", "path": pointer, "value": value}


def _switch_branch(manifest: Manifest, live: Manifest, steps: list[str], message: str) -> Iterator[Operation]:
    """The live object holds a branch of a union that the manifest does not: it goes, and ours is set with it."""
    for parent in _follow(Place("", live, manifest), steps[:-1]):
        yield from _drop_extra(parent, steps[-1], message)
    for place in _follow(Place("", live, manifest), steps):
        yield from _drop_named(place, message)


def _drop_extra(parent: Place, name: str, message: str) -> Iterator[Operation]:
    """The cause names a field of this map: the field itself, or the other one, is the leftover."""
    if not isinstance(parent.live, dict) or not isinstance(parent.desired, dict):
        return
    extra = parent.live.keys() - parent.desired.keys()
    if name in extra:
        yield from _without(parent, [name])
    elif name in parent.desired and name not in parent.live:
        named = [other for other in extra if _names(message, other)]
        yield from _without(parent, named or list(extra) if len(extra) == 1 else named)


def _drop_named(place: Place, message: str) -> Iterator[Operation]:
    """The cause names the whole map, and its message the two fields that exclude each other."""
    if not isinstance(place.live, dict) or not isinstance(place.desired, dict):
        return
    extra = [name for name in place.live if name not in place.desired and _names(message, name)]
    if any(_names(message, name) for name in place.desired):
        yield from _without(place, extra)


def _without(place: Place, names: list[str]) -> Iterator[Operation]:
    if not names:
        return
    for name in sorted(names):
        yield {"op": "remove", "path": f"{place.pointer}/{_escaped(name)}"}
    for name, wanted in place.desired.items():
        held = place.live.get(name)
        if held is None or (held != wanted and not isinstance(held, dict | list)):
            yield _set(f"{place.pointer}/{_escaped(name)}", wanted)


def _names(message: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", message) is not None


def _follow(place: Place, steps: list[str]) -> Iterator[Place]:
    """Every place that the steps may mean."""
    if not steps:
        yield place
        return
    step, rest = steps[0], steps[1:]
    if not step.startswith("["):
        if isinstance(place.live, dict) and isinstance(place.desired, dict):
            below = Place(f"{place.pointer}/{_escaped(step)}", place.live.get(step), place.desired.get(step))
            yield from _follow(below, rest)
        return
    if isinstance(place.live, list) and isinstance(place.desired, list):
        ours = {item["name"]: item for item in place.desired if isinstance(item, dict) and "name" in item}
        for number, held in enumerate(place.live):
            if isinstance(held, dict) and held.get("name") in ours:
                yield from _follow(Place(f"{place.pointer}/{number}", held, ours[held["name"]]), rest)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
