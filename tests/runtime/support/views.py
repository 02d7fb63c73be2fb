"""Small kinds and views for tests of triggers and controllers."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import Metadata, ObjectMeta

THING = Kind("example.com/v1", "Thing")
PART = Kind("v1", "Secret")


class Part(Struct, frozen=True):
    metadata: ObjectMeta
    phase: str = ""


THINGS = CacheRule(THING, Metadata)
PARTS = CacheRule(PART, Part)


def meta(name: str = "a", **fields: Any) -> ObjectMeta:
    return ObjectMeta(**{"name": name, "namespace": "shop", "uid": f"uid-{name}", **fields})


def body(kind: Kind, name: str, version: int, **fields: Any) -> bytes:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return msgspec.json.encode(
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": metadata | fields.pop("metadata", {}),
            **fields,
        }
    )


def owned_by(name: str, kind: Kind = THING) -> dict[str, Any]:
    owner = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name,
        "uid": f"uid-{name}",
        "controller": True,
    }
    return {"ownerReferences": [owner]}


def key(name: str) -> Key:
    return Key("shop", name)


class FilledCaches:
    """Stores that a test fills by hand."""

    def __init__(self) -> None:
        self._stores: dict[Any, Store[Any]] = {}

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        return self._stores.setdefault(rule, Store(rule))

    def add(self, rule: CacheRule[Any], name: str, version: int, **fields: Any) -> None:
        self.store(rule).put_watched(0, body(rule.kind, name, version, **fields))

    def finish_list(self, rule: CacheRule[Any]) -> None:
        """Ends the initial list: later objects are changes."""
        store = self.store(rule)
        store.finish_list(0, {Key(seen.metadata.namespace, seen.metadata.name) for seen in store.list()}, "")
