"""Events and condition transitions of an object and of everything below it, newest first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.object_events import EventFilter, ObjectEvent
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.page.models.addresses import object_address
from steward.page.models.structs import Model, condition_lines

SHOWN: Final = 60


class Moment(Model, frozen=True):
    time: str
    age: str
    kind: str
    namespace: str
    name: str
    type: str
    reason: str
    message: str
    times: int = 1
    href: str = ""


def timeline(
    node: TreeNode, events: Iterable[ObjectEvent], manifests: Iterable[Manifest], now: float
) -> list[Moment]:
    chosen = EventFilter([node])
    moments = [_event_moment(event, now) for event in events if chosen.matches(event)]
    for manifest in manifests:
        moments += _condition_times(manifest, now)
    return sorted(moments, key=lambda moment: moment.time[:19], reverse=True)[:SHOWN]


def _event_moment(event: ObjectEvent, now: float) -> Moment:
    return Moment(
        event.time,
        format_age(event.time, now),
        event.kind,
        event.key.namespace,
        event.key.name,
        event.type,
        event.reason,
        event.message,
        event.times,
        _address(event.kind, event.key),
    )


def _address(kind: str, key: Key) -> str:
    """An event names a kind without its API group."""
    return object_address(Ref(Kind("", kind), key))


def _condition_times(manifest: Manifest, now: float) -> list[Moment]:
    meta = manifest["metadata"]
    return [
        Moment(
            line.since,
            line.age,
            manifest["kind"],
            meta.get("namespace", ""),
            meta["name"],
            "Condition",
            line.reason,
            f"{line.type} is {line.status}" + (f": {line.message}" if line.message else ""),
            href=_address(manifest["kind"], Key(meta.get("namespace", ""), meta["name"])),
        )
        for line in condition_lines(manifest.get("status") or {}, now)
        if line.since
    ]
