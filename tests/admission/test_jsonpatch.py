import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.admission.jsonpatch import MAX_OPERATIONS, diff, object_patch


def apply(document, operations):
    """The three operations of RFC 6902 that a diff uses."""
    document = {"": copy.deepcopy(document)}
    for operation in operations:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")]
        target = document
        for part in parents:
            target = target[int(part)] if isinstance(target, list) else target[part]
        apply_one(target, last, operation)
    return document[""]


def apply_one(target, last, operation):
    if isinstance(target, list):
        place = int(last)
        match operation["op"]:
            case "add":
                assert 0 <= place <= len(target)
                target.insert(place, operation["value"])
            case "remove":
                del target[place]
            case "replace":
                target[place] = operation["value"]
    elif operation["op"] == "add":
        target[last] = operation["value"]
    else:
        assert last in target
        if operation["op"] == "remove":
            del target[last]
        else:
            target[last] = operation["value"]


def typed(value):
    """Distinguishes true from 1 and 1 from 1.0, which Python's == does not."""
    if isinstance(value, dict):
        return {key: typed(child) for key, child in value.items()}
    if isinstance(value, list):
        return [typed(child) for child in value]
    return type(value).__name__, value


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5])
    | st.text("ab/~", max_size=2)
)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~0", max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(documents, documents)
@pytest.mark.slow
def test_applying_the_difference_gives_the_other_document(before, after):
    assert typed(apply(before, diff(before, after))) == typed(after)


@settings(deadline=None)
@given(documents)
@pytest.mark.slow
def test_equal_documents_have_no_difference(document):
    assert diff(document, copy.deepcopy(document)) == []


@pytest.mark.parametrize(
    ("before", "after", "operations"),
    [
        ({"a": 1}, {"a": 2}, [{"op": "replace", "path": "/a", "value": 2}]),
        ({}, {"a/b": {"c~d": 1}}, [{"op": "add", "path": "/a~1b", "value": {"c~d": 1}}]),
        ({"x": {"a~b": 1}}, {"x": {"a~b": 2}}, [{"op": "replace", "path": "/x/a~0b", "value": 2}]),
        ({"a": None}, {}, [{"op": "remove", "path": "/a"}]),
        ([1, 2, 3], [0, 1, 2, 3], [{"op": "add", "path": "/0", "value": 0}]),
        ([1, 2, 3], [1, 3], [{"op": "remove", "path": "/1"}]),
        ([1, 2, 3, 4], [1, 4], [{"op": "remove", "path": "/2"}, {"op": "remove", "path": "/1"}]),
        ([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 3}], [{"op": "replace", "path": "/1/n", "value": 3}]),
        (True, 1, [{"op": "replace", "path": "", "value": 1}]),
        ([1], [1.0], [{"op": "replace", "path": "/0", "value": 1.0}]),
    ],
)
def test_the_patch_is_minimal(before, after, operations):
    assert diff(before, after) == operations


@pytest.mark.parametrize("count", [1, MAX_OPERATIONS, 10 * MAX_OPERATIONS])
def test_a_patch_of_an_object_has_a_bounded_number_of_operations(count):
    before = {"kind": "Basket", "spec": {"items": [{"name": str(n)} for n in range(count)]}, "old": 1}
    after = {
        "kind": "Basket",
        "spec": {"items": [{"name": str(n), "size": 1} for n in range(count)]},
        "new": [2],
    }
    operations = object_patch(before, after)
    assert apply(before, operations) == after
    assert len(operations) <= MAX_OPERATIONS


def test_a_patch_with_many_operations_replaces_the_fields_that_differ():
    before = {"metadata": {"name": "a"}, "spec": {str(n): 0 for n in range(2 * MAX_OPERATIONS)}}
    after = {"metadata": {"name": "a"}, "spec": {str(n): 1 for n in range(2 * MAX_OPERATIONS)}}
    assert object_patch(before, after) == [{"op": "replace", "path": "/spec", "value": after["spec"]}]
