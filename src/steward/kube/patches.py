"""The three patches of Kubernetes as values, each with the content type that names it.

A patch is `guarded` when it holds the resourceVersion that it expects: then the server refuses it on any other
version, and sending it twice cannot do it twice.
"""

from typing import Any, ClassVar

import msgspec
from msgspec import Struct

APPLY = "application/apply-patch+yaml"


class JsonPatch(Struct, frozen=True):
    operations: list[dict[str, Any]]
    content_type: ClassVar[str] = "application/json-patch+json"

    @property
    def guarded(self) -> bool:
        return any(
            step.get("op") in ("test", "replace") and step.get("path") == "/metadata/resourceVersion"
            for step in self.operations
        )

    def encode(self) -> bytes:
        return msgspec.json.encode(self.operations)


class MergePatch(Struct, frozen=True):
    changes: dict[str, Any]
    content_type: ClassVar[str] = "application/merge-patch+json"

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
