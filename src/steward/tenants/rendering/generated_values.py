"""Random values of Secrets, made once for each Tenant and kept. Pure: the caller gives the random values.

A value is kept in the payload of the Tenant, by the id of its resource and its key. The Tenant controller never
changes a key that the Secret has already, so that a value survives a lost payload, and a value that a user has replaced
stays.
"""

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from steward.kube.objects.kinds import SECRET, Manifest, kind_of
from steward.tenants.api.resource import GeneratedValue, TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.errors import RenderError

FIELD: Final = "generate"
DIGITS: Final = "0123456789"
ALPHABETS: Final[Mapping[str, str]] = {
    "alphanumeric": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + DIGITS,
    "digits": DIGITS,
    "hex": DIGITS + "abcdef",
}

MakeValue = Callable[[GeneratedValue], str]


def show_placeholder(value: GeneratedValue) -> str:
    """For renderings that are only shown."""
    return f"({value.length} random characters)"


def generated_values(resource: TResource) -> tuple[GeneratedValue, ...]:
    return () if resource.generate is UNSET else tuple(resource.generate)


def with_generated_values(
    manifest: Manifest, values: Iterable[GeneratedValue], known: Mapping[str, Any], make: MakeValue
) -> Manifest:
    """The Secret with its generated values: the known ones, and new ones for other keys."""
    if kind_of(manifest) != SECRET:
        raise RenderError(FIELD, f"is for Secrets, and this is a {manifest['kind']}: take it out")
    data = dict(manifest.get("data") or {})
    for value in values:
        if value.key in data:
            raise RenderError(FIELD, f"has the key {value.key!r}, which data has too: take one of them out")
        data[value.key] = known.get(value.key) or base64.b64encode(make(value).encode()).decode()
    return {**manifest, "data": data}


def keep_live_values(
    manifest: Manifest, values: Iterable[GeneratedValue], live: Manifest, taken: Collection[str] = ()
) -> Manifest:
    """The Secret with the live values of its generated keys; without the keys that other managers have `taken`."""
    stored = live.get("data") or {}
    kept = {value.key: stored[value.key] for value in values if stored.get(value.key)}
    data = {**(manifest.get("data") or {}), **kept}
    left = {key: value for key, value in data.items() if key not in kept or key not in taken}
    return {**manifest, "data": left}
