from typing import Any

import msgspec
import pytest

from steward.kube.managed_fields.fields_v1 import parse_fields_v1
from steward.kube.objects.kinds import SERVICE, Kind

CUSTOM = Kind("example.com/v1", "Thing")


def collected(fields: dict[str, Any], obj: Any, kind: Kind = CUSTOM) -> list[Any]:
    out: list[Any] = []
    parse_fields_v1(kind, msgspec.json.encode(fields)).collect(obj, out)
    return out


def test_scalars_maps_and_atomic_values_are_collected_in_the_order_of_the_fields() -> None:
    fields = {"f:spec": {"f:b": {}, "f:a": {".": {}, "f:x": {}}, "f:whole": {}}}
    obj = {"spec": {"a": {"x": 1, "y": 2}, "b": "text", "whole": [1, 2], "other": 3}}

    assert collected(fields, obj) == ["text", 1, [1, 2]]


@pytest.mark.parametrize("obj", [{}, {"spec": None}, {"spec": 3}, {"spec": {}}, {"spec": {"list": 3}}])
def test_missing_fields_do_not_change_the_number_of_values(obj: Any) -> None:
    fields = {
        "f:spec": {
            "f:a": {"f:x": {}},
            "f:list": {'k:{"name":"x"}': {".": {}, "f:name": {}}, 'k:{"name":"y"}': {".": {}, "f:name": {}}},
            "f:set": {'v:"a"': {}},
            "f:places": {"i:0": {}, "i:1": {"f:x": {}}},
        }
    }

    assert len(collected(fields, obj)) == 7
    assert not any(collected(fields, obj))


KEYED = {"f:list": {'k:{"name":"x"}': {".": {}, "f:v": {}}, 'k:{"name":"y"}': {".": {}, "f:v": {}}}}


def test_items_are_found_by_key_wherever_they_stand() -> None:
    foreign = {"name": "z", "v": 9}

    assert collected(KEYED, {"list": [foreign, {"name": "x", "v": 1}, foreign, {"name": "y", "v": 2}]}) == [
        "0,1",
        1,
        2,
    ]


def test_the_order_of_our_items_is_a_value() -> None:
    assert collected(KEYED, {"list": [{"name": "y", "v": 2}, {"name": "x", "v": 1}]}) == ["1,0", 1, 2]


def test_a_key_that_the_manifest_leaves_out_has_its_default() -> None:
    fields = {
        "f:ports": {
            'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}},
            'k:{"port":80,"protocol":"UDP"}': {".": {}, "f:name": {}},
        }
    }
    obj = {"ports": [{"port": 80, "protocol": "UDP", "name": "dns"}, {"port": 80, "name": "http"}]}

    assert collected(fields, obj, SERVICE) == ["1,0", "http", "dns"]


def test_a_default_that_only_one_item_can_have_is_found() -> None:
    fields = {"f:list": {'k:{"kind":"A","name":"x"}': {"f:v": {}}, 'k:{"kind":"A","name":"y"}': {"f:v": {}}}}

    assert collected(fields, {"list": [{"name": "y", "v": 2}, {"name": "x", "v": 1}]}) == ["1,0", 1, 2]


def test_a_set_is_its_values_in_any_order() -> None:
    fields = {"f:set": {'v:"a"': {}, 'v:"b"': {}, "v:1": {}}}

    assert collected(fields, {"set": ["b", "c", 1, "a"]}) == collected(fields, {"set": [1, "a", "b"]})
    assert collected(fields, {"set": ["a"]}) != collected(fields, {"set": ["a", "b"]})


def test_every_value_has_its_path() -> None:
    fields = {"f:a": {"f:x": {}}, **KEYED, "f:set": {'v:"a"': {}}, "f:at": {"i:0": {}}}
    tree = parse_fields_v1(CUSTOM, msgspec.json.encode(fields))

    paths = [".".join(path) for path in tree.leaf_paths()]

    assert paths == ["a.x", "list.order", 'list.k:{"name":"x"}.v', 'list.k:{"name":"y"}.v', "set", "at.i:0"]


def test_no_fields_at_all_are_no_values() -> None:
    assert collected({}, {"spec": 1}) == []


def test_an_unknown_path_element_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown path element 'q:'"):
        collected({"q:x": {}}, {})


def test_an_item_whose_key_is_no_scalar_is_not_owned() -> None:
    assert collected(KEYED, {"list": [{"name": {}}, {"name": ["x"]}, "x"]}) == ["", None, None]
