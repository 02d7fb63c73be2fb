"""The three patch types of Kubernetes as values, each with its content type.

A patch has a precondition when it contains the expected resourceVersion: the API server rejects it for any other
version, and it cannot take effect twice.

The version is set, not tested. A JSON patch whose `test` fails is rejected with a 422, which stands for requests that
stay invalid until they are changed. A wrong version that is set is rejected with a 409, after which the caller reads
the object and tries again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

APPLY = "application/apply-patch+yaml"
_VERSION = "/metadata/resourceVersion"
# In UTF-8: DEL and the C1 controls with NEL, the line and paragraph separators, the byte order mark, U+FFFE and U+FFFF.
_OTHER_IN_YAML = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]")


def escape_for_yaml(body: bytes) -> bytes:
    """JSON that an API server reads as it is meant, although it parses the body of an apply as YAML.

    There some characters are line breaks, around which white space is dropped, and others are errors. In JSON they can
    occur in texts only, and escaped they are the same texts.
    """
    return _OTHER_IN_YAML.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), body)


class JsonPatch(Struct, frozen=True):
    operations: list[dict[str, Any]]
    content_type: ClassVar[str] = "application/json-patch+json"

    @classmethod
    def at_version(cls, version: str, operations: Iterable[dict[str, Any]]) -> JsonPatch:
        return cls([{"op": "replace", "path": _VERSION, "value": version}, *operations])

    @property
    def has_precondition(self) -> bool:
        return any(
            step.get("op") in ("test", "replace") and step.get("path") == _VERSION for step in self.operations
        )

    def encode(self) -> bytes:
        return msgspec.json.encode(self.operations)


class MergePatch(Struct, frozen=True):
    changes: dict[str, Any]
    content_type: ClassVar[str] = "application/merge-patch+json"

    @classmethod
    def metadata_at_version(cls, version: str, **fields: Any) -> MergePatch:
        """Sets metadata fields: lists are replaced, maps are merged, None removes."""
        return cls({"metadata": {"resourceVersion": version, **fields}})

    @property
    def has_precondition(self) -> bool:
        return _expects_version(self.changes)

    def encode(self) -> bytes:
        return msgspec.json.encode(self.changes)


class StrategicPatch(Struct, frozen=True):
    changes: dict[str, Any]
    content_type: ClassVar[str] = "application/strategic-merge-patch+json"

    @property
    def has_precondition(self) -> bool:
        return _expects_version(self.changes)

    def encode(self) -> bytes:
        return msgspec.json.encode(self.changes)


Patch = JsonPatch | MergePatch | StrategicPatch


def _expects_version(changes: dict[str, Any]) -> bool:
    return bool((changes.get("metadata") or {}).get("resourceVersion"))
