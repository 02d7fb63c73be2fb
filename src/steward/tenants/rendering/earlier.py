"""What a Tenant was rendered to before, for objects whose values are made once and kept. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.objects.kinds import Manifest, ref_of
from steward.tenants.rendering.generated_values import MakeValue, show_placeholder
from steward.tenants.rendering.secret_payload import SecretPayload, payload_key, with_payload

_NOTHING: Final[Mapping[str, dict[str, Any]]] = MappingProxyType({})


class EarlierRendering(NamedTuple):
    """The objects of the Tenant as it exists."""

    bodies: Mapping[str, dict[str, Any]] = _NOTHING
    """By resource id, without the payload of Secrets."""
    payload: SecretPayload = SecretPayload()
    is_of_this_version: bool = False
    """Whether the template has not been edited since."""
    make_value: MakeValue = show_placeholder
    """Makes the random values that the payload does not have."""

    def manifest(self, resource: str) -> Manifest | None:
        """The object with its payload; None if it was not rendered, or its payload was lost."""
        body = self.bodies.get(resource)
        if body is None:
            return None
        try:
            return with_payload(body, resource, self.payload)
        except KeyError:
            return None

    def secret_data(self, resource: str) -> dict[str, Any]:
        """The data of a Secret; empty if it has none."""
        entry = self.payload.entries.get(payload_key(resource))
        return {} if entry is None else msgspec.json.decode(entry, type=dict[str, Any])


NEW_TENANT: Final = EarlierRendering()


def keep_object(manifest: Manifest, earlier: Manifest | None) -> Manifest:
    """The earlier rendering of the same object. One of another name is another object, and is made anew."""
    return earlier if earlier is not None and ref_of(earlier) == ref_of(manifest) else manifest
