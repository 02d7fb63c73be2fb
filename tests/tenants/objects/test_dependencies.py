"""Dependencies: cycles, levels to apply in, and levels to delete in."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.api.resource import TResource
from steward.tenants.objects.dependencies import (
    CycleError,
    Edges,
    UnknownDependency,
    apply_levels,
    deletion_levels,
    dependency_edges,
    dependents_of,
    duplicate_ids,
    find_cycle,
    unknown_dependencies,
)

DIAMOND = {"d": ("b", "c"), "b": ("a",), "c": ("a",), "a": ()}


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({}, ()),
        ({"a": (), "b": ()}, (("a", "b"),)),
        ({"c": ("b",), "b": ("a",), "a": ()}, (("a",), ("b",), ("c",))),
        (DIAMOND, (("a",), ("b", "c"), ("d",))),
        ({"a": (), "b": (), "c": ("a", "b")}, (("a", "b"), ("c",))),
        ({"a": ("nowhere",), "b": ("a", "a")}, (("a",), ("b",))),
    ],
)
def test_a_level_comes_after_all_its_dependencies(edges: Edges, expected: object) -> None:
    assert apply_levels(edges) == expected


@pytest.mark.parametrize(
    ("edges", "path"),
    [
        ({"A": ("A",)}, "A -> A"),
        ({"A": ("B",), "B": ("A",)}, "A -> B -> A"),
        ({"x": ("A",), "A": ("B",), "B": ("C",), "C": ("A",)}, "A -> B -> C -> A"),
        ({"ok": (), "A": ("ok", "B"), "B": ("ok", "A")}, "A -> B -> A"),
    ],
)
def test_a_cycle_is_reported_with_its_path(edges: Edges, path: str) -> None:
    with pytest.raises(CycleError) as error:
        apply_levels(edges)
    assert str(error.value) == f"Dependency cycle detected: {path}"


def test_deletion_has_the_reverse_order() -> None:
    assert deletion_levels(DIAMOND) == (("d",), ("b", "c"), ("a",))


def test_even_a_cycle_can_be_deleted() -> None:
    assert deletion_levels({"A": ("B",), "B": ("A",)}) == (("A", "B"),)


def test_unknown_dependencies_are_named_with_their_dependents() -> None:
    assert unknown_dependencies({"a": ("b", "x"), "b": ("y",)}) == (
        UnknownDependency("a", "x"),
        UnknownDependency("b", "y"),
    )


def test_repeated_ids_are_named_once() -> None:
    assert duplicate_ids(["a", "b", "a", "c", "a", "b"]) == ("a", "b")


def test_edges_come_from_resources() -> None:
    resources = [TResource(id="a", spec={}), TResource(id="b", spec={}, depend_ids=["a"])]
    assert dependency_edges(resources) == {"a": (), "b": ("a",)}
    assert dependents_of(dependency_edges(resources)) == {"a": ["b"], "b": []}


def test_a_chain_may_be_as_long_as_a_template() -> None:
    chain = {str(number): (str(number + 1),) for number in range(20_000)}
    assert find_cycle(chain) is None
    assert len(apply_levels({**chain, "20000": ()})) == 20_001
    assert find_cycle({**chain, "20000": ("0",)}) is not None


IDS = st.sampled_from("abcdefgh")


@settings(deadline=None)
@given(st.dictionaries(IDS, st.lists(IDS, max_size=3)))
def test_either_every_resource_has_a_level_or_a_real_cycle_is_named(edges: dict[str, list[str]]) -> None:
    cycle = find_cycle(edges)
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert all(following in edges[step] for step, following in itertools.pairwise(cycle))
        return
    place = {id: number for number, level in enumerate(apply_levels(edges)) for id in level}
    assert place.keys() == edges.keys()
    assert all(place[found] < place[id] for id in edges for found in edges[id] if found in edges)
