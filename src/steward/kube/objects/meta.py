"""Object metadata, as the one type that all views share.

Views are read and compared, never encoded and never modified, and they declare only the fields that are used. Every
field has a default, so that a view decodes any object.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from steward.kube.objects.kinds import Key

_NOTHING: Mapping[str, str] = MappingProxyType({})


class OwnerReference(Struct, rename="camel", frozen=True, gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(Struct, rename="camel", frozen=True, gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: Mapping[str, str] = _NOTHING
    annotations: Mapping[str, str] = _NOTHING
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class HasMetadata(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


class Metadata(Struct, frozen=True, gc=False):
    """The smallest view: metadata only."""

    metadata: ObjectMeta = ObjectMeta()


def key_of(obj: HasMetadata) -> Key:
    return Key(obj.metadata.namespace, obj.metadata.name)


def controller_of(meta: ObjectMeta) -> OwnerReference | None:
    return next((owner for owner in meta.owner_references if owner.controller), None)


def is_newer(version: str, than: str) -> bool:
    """Whether one resourceVersion of an object is later than another.

    The API guarantees that versions of digits compare as integers. Other versions cannot be compared: then any other
    version counts as newer.
    """
    if version.isdigit() and than.isdigit():
        return int(version) > int(than)
    return version != than


def is_after(version: str, than: str) -> bool:
    """Whether a resourceVersion is certainly later than another; False when one of them is not a number."""
    return version.isdigit() and than.isdigit() and int(version) > int(than)
