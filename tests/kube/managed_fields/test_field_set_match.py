from typing import Any

import msgspec
import pytest

from steward.kube.managed_fields.field_set_match import (
    AtomicMap,
    Untracked,
    refuted_questions,
    schema_questions,
)
from steward.kube.managed_fields.fields_v1 import parse_fields_v1
from steward.kube.objects.kinds import Kind

CUSTOM = Kind("example.com/v1", "Thing")

FIELDS: dict[str, Any] = {
    "f:spec": {
        "f:size": {},
        "f:list": {'k:{"name":"x"}': {".": {}, "f:name": {}}, 'k:{"name":"y"}': {".": {}, "f:name": {}}},
        "f:set": {'v:"a"': {}, 'v:"b"': {}},
        "f:at": {"i:0": {}, "i:1": {}},
    }
}
OWNED: dict[str, Any] = {
    "spec": {"size": 1, "list": [{"name": "x"}, {"name": "y"}], "set": ["a", "b"], "at": [1, 2]}
}


def doubts(fields: dict[str, Any], desired: Any) -> Any:
    return schema_questions(parse_fields_v1(CUSTOM, msgspec.json.encode(fields)), desired)


def spec(**changes: Any) -> Any:
    return {"spec": {**OWNED["spec"], **changes}}


@pytest.mark.parametrize(
    "desired",
    [
        OWNED,
        spec(size=2),
        spec(size=None),
        spec(size=[1]),
        spec(list=[{"name": "y"}, {"name": "x"}]),
        spec(set=["b", "a"]),
    ],
)
def test_the_same_fields_with_any_values_are_the_same(desired: Any) -> None:
    assert doubts(FIELDS, desired) == []


@pytest.mark.parametrize(
    "desired",
    [
        {},
        {"spec": {}},
        {"spec": 3},
        {**OWNED, "more": 1},
        spec(more=1),
        spec(more={}),
        spec(list=[{"name": "x"}]),
        spec(list=[{"name": "x"}, {"name": "z"}]),
        spec(list=[{"name": "x"}, {"name": "y"}, {"name": "z"}]),
        spec(list=[{"name": "x"}, {"name": "x"}, {"name": "y"}]),
        spec(list=[{"name": "x", "more": 1}, {"name": "y"}]),
        spec(list={"name": "x"}),
        spec(list=["x", "y"]),
        spec(set=["a"]),
        spec(set=["a", "c"]),
        spec(set=["a", "b", "c"]),
        spec(set=["a", {}]),
        spec(at=[1]),
        spec(at="x"),
    ],
)
def test_other_fields_are_different(desired: Any) -> None:
    assert doubts(FIELDS, desired) is None


def test_an_empty_list_that_is_not_owned_is_a_question() -> None:
    assert doubts(FIELDS, spec(more=[])) == [Untracked(("spec", "more"))]
    assert doubts(FIELDS, spec(more={"list": []})) == [Untracked(("spec", "more", "list"))]


def test_a_status_beside_the_spec_is_a_question() -> None:
    assert doubts(FIELDS, {**OWNED, "status": {"phase": "x"}}) == [Untracked(("status",))]


def test_a_map_owned_as_one_value_is_a_question_unless_it_is_empty() -> None:
    fields = {"f:whole": {}}

    assert doubts(fields, {"whole": {"a": 1}}) == [AtomicMap(("whole",))]
    assert doubts(fields, {"whole": {}}) == []


def test_a_derived_field_set_refutes_questions() -> None:
    tree = parse_fields_v1(CUSTOM, b'{"f:spec":{"f:map":{"f:a":{}},"f:empty":{},"f:full":{}}}')
    applied = {"spec": {"map": {"a": 1}, "empty": [], "full": [1]}}

    assert set(refuted_questions(tree, applied)) == {
        AtomicMap(()),
        AtomicMap(("spec",)),
        AtomicMap(("spec", "map")),
        Untracked(("spec", "empty")),
    }
