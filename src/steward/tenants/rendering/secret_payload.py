"""The payload of a Tenant's Secrets, kept apart from its spec. Pure.

It is stored in one Secret beside the Tenant, with a key for each resource. The spec contains the name of that Secret
and a digest: a changed password is a changed spec, and users who may read Tenants cannot read passwords.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import msgspec

from steward.kube.objects.kinds import SECRET, kind_of

_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}", re.ASCII)
_NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})


class SecretPayload:
    """The `data` of each Secret in JSON, by key."""

    def __init__(self, entries: Mapping[str, bytes] = _NOTHING) -> None:
        self.entries = entries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretPayload) and dict(self.entries) == dict(other.entries)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Payload(of {len(self.entries)} Secrets)"

    def with_secret(self, resource: str, data: Mapping[str, Any]) -> "SecretPayload":
        encoded = msgspec.json.encode(dict(sorted(data.items())))
        return SecretPayload({**self.entries, payload_key(resource): encoded})

    def of_resources(self, resources: Iterable[str]) -> "SecretPayload":
        """Without all other keys: a server-side apply leaves keys in the values Secret that other clients added."""
        keys = {payload_key(resource) for resource in resources}
        return SecretPayload({key: entry for key, entry in self.entries.items() if key in keys})

    @cached_property
    def digest(self) -> str:
        digest = hashlib.sha256()
        for key, entry in sorted(self.entries.items()):
            digest.update(key.encode() + b"\0" + entry + b"\0")
        return digest.hexdigest()[:32]

    @property
    def size(self) -> int:
        return sum(map(len, self.entries.values()))

    @property
    def data(self) -> dict[str, str]:
        """The data of the values Secret."""
        return {key: base64.b64encode(entry).decode() for key, entry in sorted(self.entries.items())}

    @classmethod
    def from_data(cls, data: Mapping[str, str]) -> "SecretPayload":
        return cls({key: base64.b64decode(entry) for key, entry in data.items()})


def payload_key(resource: str) -> str:
    """The id of the resource where it is a valid key of a Secret, else its hash."""
    if _KEY.fullmatch(resource) and resource not in (".", ".."):
        return resource
    return f"sha256-{hashlib.sha256(resource.encode(errors='surrogatepass')).hexdigest()}"


def split_payload(manifest: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The object without its payload, and the payload if it is a Secret."""
    if kind_of(manifest) != SECRET:
        return manifest, None
    body = {name: value for name, value in manifest.items() if name != "data"}
    return body, manifest.get("data") or {}


def with_payload(manifest: dict[str, Any], resource: str, payload: SecretPayload) -> dict[str, Any]:
    """A Secret with its payload; KeyError if that does not exist (yet)."""
    if kind_of(manifest) != SECRET:
        return manifest
    data = msgspec.json.decode(payload.entries[payload_key(resource)])
    return {**manifest, "data": data} if data else manifest
