"""Decodes one line of a watch stream into an event. Pure."""

from enum import Enum
from typing import Final

import msgspec
from msgspec import Struct

from steward.kube.client.depth_limit import EVENT_MEMBER_DEPTH, cut_deep_values
from steward.kube.errors import KubeError
from steward.kube.objects.meta import Metadata, ObjectMeta

_END_OF_LIST: Final = "k8s.io/initial-events-end"


class UnreadableEvent(KubeError):
    """The watch can no longer be trusted, and its objects must be listed again."""


class WatchEventType(Enum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


class WatchEvent(Struct, gc=False):
    type: WatchEventType
    object: msgspec.Raw


_event = msgspec.json.Decoder(WatchEvent)
_metadata = msgspec.json.Decoder(Metadata)


def read_event(line: bytes) -> WatchEvent:
    try:
        return _event.decode(line)
    except RecursionError:
        return read_event(cut_deep_values(line, EVENT_MEMBER_DEPTH))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableEvent(f"a line of the watch is no event: {error}") from error


def read_metadata(body: bytes | msgspec.Raw) -> ObjectMeta:
    try:
        return _metadata.decode(body).metadata
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableEvent(f"an object of the watch has no readable metadata: {error}") from error


def ends_initial_list(bookmark: ObjectMeta) -> bool:
    return bookmark.annotations.get(_END_OF_LIST) == "true"
