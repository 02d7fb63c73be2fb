"""The payload of a Tenant's Secrets, kept apart from its specification.

It lives in one Secret beside the Tenant, a key a resource. The specification holds that Secret's name and a digest, so
that a changed password is a changed Tenant, and nobody who may read Tenants reads passwords.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import msgspec

from steward.kube.objects.kinds import SECRET, kind_of

_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}", re.ASCII)
_NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})


class Payload:
    """By key, the `data` of one Secret in JSON."""

    def __init__(self, entries: Mapping[str, bytes] = _NOTHING) -> None:
        self.entries = entries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Payload) and dict(self.entries) == dict(other.entries)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Payload(of {len(self.entries)} Secrets)"

    def with_secret(self, resource: str, data: Mapping[str, Any]) -> "Payload":
        encoded = msgspec.json.encode(dict(sorted(data.items())))
        return Payload({**self.entries, payload_key(resource): encoded})

    @cached_property
    def digest(self) -> str:
        whole = hashlib.sha256()
        for key, entry in sorted(self.entries.items()):
            whole.update(key.encode() + b"\0" + entry + b"\0")
        return whole.hexdigest()[:32]

    @property
    def size(self) -> int:
        return sum(map(len, self.entries.values()))

    @property
    def data(self) -> dict[str, str]:
        """As the data of a Secret."""
        return {key: base64.b64encode(entry).decode() for key, entry in sorted(self.entries.items())}

    @classmethod
    def from_data(cls, data: Mapping[str, str]) -> "Payload":
        return cls({key: base64.b64decode(entry) for key, entry in data.items()})


def payload_key(resource: str) -> str:
    """The id itself where a Secret's key can hold it, else its hash."""
    if _KEY.fullmatch(resource) and resource not in (".", ".."):
        return resource
    return f"sha256-{hashlib.sha256(resource.encode(errors='surrogatepass')).hexdigest()}"


def split(manifest: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """An object without its payload, and the payload if it is a Secret."""
    if kind_of(manifest) != SECRET:
        return manifest, None
    body = {name: value for name, value in manifest.items() if name != "data"}
    return body, manifest.get("data") or {}


def joined(manifest: dict[str, Any], resource: str, payload: Payload) -> dict[str, Any]:
    """A Secret as it is to be applied; KeyError if its payload is not there (yet)."""
    if kind_of(manifest) != SECRET:
        return manifest
    data = msgspec.json.decode(payload.entries[payload_key(resource)])
    return {**manifest, "data": data} if data else manifest
