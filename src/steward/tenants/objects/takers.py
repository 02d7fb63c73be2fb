"""Who changed an object of ours, as its managedFields tell. Pure.

An apply is told by the server which field is in whose hands. `merge` and `replace` just write, so they look themselves:
without a name, a fight with somebody who keeps changing the same field would never be told, and never end.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from steward.kube.objects.kinds import Manifest
from steward.tenants.objects.ownership import OUR_MANAGERS

SOMEBODY: Final = "somebody else"


def takers(live: Manifest, paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """For each path its manager: the latest that holds it, else the latest to have written anything."""
    entries = sorted(
        (entry for entry in live["metadata"].get("managedFields") or () if _may_take(entry)),
        key=lambda entry: str(entry.get("time", "")),
        reverse=True,
    )
    return tuple((_taker(entries, path), path) for path in paths)


def _may_take(entry: Mapping[str, Any]) -> bool:
    return entry.get("manager") not in OUR_MANAGERS and entry.get("subresource") != "status"


def _taker(entries: list[Mapping[str, Any]], path: str) -> str:
    holders = [entry for entry in entries if _holds(entry.get("fieldsV1") or {}, path)]
    found = next(iter(holders or entries), None)
    return SOMEBODY if found is None else str(found.get("manager") or SOMEBODY)


def _holds(fields: Mapping[str, Any], path: str) -> bool:
    """Whether a FieldsV1 entry holds a path. Names may have dots; inside a list the list itself is near enough."""
    if not path.startswith("."):
        return True
    rest = path[1:]
    return any(
        not (below.keys() - {"."}) or _holds(below, rest[len(name) - 2 :])
        for name, below in fields.items()
        if name.startswith("f:") and _is_step(rest, name[2:])
    )


def _is_step(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))
