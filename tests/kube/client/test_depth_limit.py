"""One object that is nested too deeply does not make others unreadable."""

import msgspec
import pytest

from steward.kube.cache.watch_events import read_event, read_metadata
from steward.kube.client import decode
from steward.kube.client.depth_limit import EVENT_MEMBER_DEPTH, MAX_DEPTH, cut_deep_values
from steward.kube.errors import TooDeep
from steward.kube.objects.kinds import CONFIG_MAP
from steward.kube.objects.meta import Metadata


def nested(levels: int) -> bytes:
    return b'{"a":[' * (levels // 2) + b'"}\\"]"' + b"]}" * (levels // 2)


def config_map(name: str, levels: int) -> bytes:
    deep = nested(levels)
    managed = b'"managedFields":[{"manager":"kubectl","fieldsV1":%b}]' % deep
    return b'{"metadata":{"name":"%b",%b},"data":%b,"kind":"x"}' % (name.encode(), managed, deep)


def test_a_value_that_is_too_deep_is_replaced_and_metadata_can_be_read() -> None:
    event = read_event(b'{"type":"ADDED","object":%b}' % config_map("deep", 9000))
    assert read_metadata(event.object).name == "deep"
    assert msgspec.json.decode(event.object) == {
        "metadata": {"name": "deep", "managedFields": "nested too deeply"},
        "data": "nested too deeply",
        "kind": "x",
    }


def test_a_list_with_an_object_that_is_too_deep_contains_all_others() -> None:
    items = b",".join((config_map("deep", 9000), config_map("plain", 4), config_map("deeper", 9998)))
    body = b'{"metadata":{"resourceVersion":"7"},"items":[%b]}' % items
    page = decode.page(body, CONFIG_MAP, msgspec.Raw)
    assert [read_metadata(item).name for item in page.items] == ["deep", "plain", "deeper"]
    assert bytes(page.items[1]) == config_map("plain", 4)
    with pytest.raises(TooDeep):
        decode.page(body, CONFIG_MAP, Metadata)


def test_values_of_allowed_depth_are_not_changed() -> None:
    line = b'{"type":"ADDED","object":%b}' % config_map("plain", MAX_DEPTH - 4)
    assert cut_deep_values(line, EVENT_MEMBER_DEPTH) == line
