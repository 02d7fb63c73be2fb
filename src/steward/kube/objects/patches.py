"""The three patches of Kubernetes as values, each with the content type that names it.

A patch is `guarded` when it holds the resourceVersion that it expects: then the server refuses it on any other
version, and sending it twice cannot do it twice.

The version is set, not tested: a JSON patch whose `test` fails is a 422, the server's word for what stays wrong until
somebody mends it. A version that is set meets the 409 that says what happened, and the next try looks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

APPLY = "application/apply-patch+yaml"
_VERSION = "/metadata/resourceVersion"


class JsonPatch(Struct, frozen=True):
    operations: list[dict[str, Any]]
    content_type: ClassVar[str] = "application/json-patch+json"

    @classmethod
    def as_seen(cls, version: str, operations: Iterable[dict[str, Any]]) -> JsonPatch:
        return cls([{"op": "replace", "path": _VERSION, "value": version}, *operations])

    @property
    def guarded(self) -> bool:
        return any(
            step.get("op") in ("test", "replace") and step.get("path") == _VERSION for step in self.operations
        )

    def encode(self) -> bytes:
        return msgspec.json.encode(self.operations)


class MergePatch(Struct, frozen=True):
    changes: dict[str, Any]
    content_type: ClassVar[str] = "application/merge-patch+json"

    @classmethod
    def metadata_as_seen(cls, version: str, **fields: Any) -> MergePatch:
        """Sets fields of the metadata: lists whole, maps key by key, None takes away."""
        return cls({"metadata": {"resourceVersion": version, **fields}})

    @property
    def guarded(self) -> bool:
        return _expects_version(self.changes)

    def encode(self) -> bytes:
        return msgspec.json.encode(self.changes)


class StrategicPatch(Struct, frozen=True):
    changes: dict[str, Any]
    content_type: ClassVar[str] = "application/strategic-merge-patch+json"

    @property
    def guarded(self) -> bool:
        return _expects_version(self.changes)

    def encode(self) -> bytes:
        return msgspec.json.encode(self.changes)


Patch = JsonPatch | MergePatch | StrategicPatch


def _expects_version(changes: dict[str, Any]) -> bool:
    return bool((changes.get("metadata") or {}).get("resourceVersion"))
