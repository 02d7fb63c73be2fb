import pytest

from steward.kube.cache.watch_events import (
    UnreadableEvent,
    WatchEventType,
    ends_initial_list,
    read_event,
    read_metadata,
)
from steward.kube.objects.meta import ObjectMeta


def test_an_event_is_its_type_and_the_bytes_of_its_object() -> None:
    event = read_event(b'{"type":"ADDED","object":{"metadata":{"name":"a"}}}')

    assert event.type is WatchEventType.ADDED
    assert read_metadata(event.object).name == "a"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b'{"type":"ADDED"}',
        b'{"type":"OTHER","object":{}}',
        b"\xff",
        b'{"type":"ADDED","obj',
    ],
)
def test_a_line_that_is_no_event_is_unreadable(line: bytes) -> None:
    with pytest.raises(UnreadableEvent):
        read_event(line)


@pytest.mark.parametrize("body", [b"[]", b'{"metadata": 1}', b'{"metadata": {"name": 1}}'])
def test_an_object_without_readable_metadata_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableEvent):
        read_metadata(body)


def test_the_last_bookmark_ends_the_initial_list() -> None:
    assert ends_initial_list(ObjectMeta(annotations={"k8s.io/initial-events-end": "true"}))
    assert not ends_initial_list(ObjectMeta())
