import pytest
from msgspec import Raw, Struct

from steward.kube.client import decode
from steward.kube.errors import ApiError
from steward.kube.objects.kinds import CONFIG_MAP


class View(Struct):
    data: dict[str, str]


def test_a_view_reads_its_fields_and_skips_the_rest() -> None:
    assert decode.one(b'{"kind":"ConfigMap","data":{"a":"1"},"other":[1]}', View) == View({"a": "1"})


def test_a_page_holds_items_version_and_the_token_of_the_next() -> None:
    body = b'{"metadata":{"resourceVersion":"7","continue":"t"},"items":[{"data":{"a":"1"}}]}'
    page = decode.page(body, CONFIG_MAP, View)
    assert (page.items, page.resource_version, page.more) == ([View({"a": "1"})], "7", "t")


def test_a_list_without_items_is_empty() -> None:
    assert decode.page(b'{"metadata":{"resourceVersion":"7"},"items":null}', CONFIG_MAP, View).items == []


def test_dicts_of_a_list_get_their_kind() -> None:
    page = decode.page(b'{"metadata":{},"items":[{},{"kind":"Own","apiVersion":"own/v1"}]}', CONFIG_MAP, dict)
    assert page.items == [
        {"apiVersion": "v1", "kind": "ConfigMap"},
        {"apiVersion": "own/v1", "kind": "Own"},
    ]


def test_raw_items_are_left_as_they_came() -> None:
    assert [
        bytes(item) for item in decode.page(b'{"metadata":{},"items":[{"a": 1}]}', CONFIG_MAP, Raw).items
    ] == [b'{"a": 1}']


@pytest.mark.parametrize("body", [b"<html>please log in</html>", b'{"data":{"a":1}}', b"", b"\xff"])
def test_an_answer_that_cannot_be_read_is_an_api_error(body: bytes) -> None:
    with pytest.raises(ApiError, match="the response cannot be decoded") as caught:
        decode.one(body, View)
    assert caught.value.reason == "UnreadableAnswer"
