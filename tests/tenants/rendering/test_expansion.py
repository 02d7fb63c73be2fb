"""The limits of `forEach`: those of the schema of a Tenant, which the API server would reject otherwise."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from steward.tenants.api.resource import TResource
from steward.tenants.errors import RenderError
from steward.tenants.rendering.expansion import check_objects, item_resource, with_expanded_dependencies
from steward.tenants.rendering.for_each import Item


def resource(id: str, name: str = "", **fields: Any) -> TResource:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name or id, "namespace": "shop"}}
    return TResource(id=id, spec=body, **fields)


def outcome(problem: str) -> AbstractContextManager[object]:
    return pytest.raises(RenderError, match=problem) if problem else nullcontext()


@pytest.mark.parametrize(
    ("length", "problem"), [(250, ""), (251, r"too long for forEach: x{20}… has more than 253 characters")]
)
def test_an_id_has_at_most_253_characters(length: int, problem: str) -> None:
    with outcome(problem):
        assert item_resource(resource("x" * length), Item("a", None)).id == f"{'x' * length}[a]"


@pytest.mark.parametrize(
    ("count", "problem"), [(99, ""), (100, r"are 101 with the entries of forEach, and may be 100")]
)
def test_a_resource_has_at_most_a_hundred_dependencies(count: int, problem: str) -> None:
    entries = tuple(f"domains[{number}]" for number in range(count))
    dependent = resource("last", depend_ids=["domains", "other"])
    with outcome(problem):
        found = with_expanded_dependencies(dependent, {"domains": entries})
        assert found.depend_ids == [*entries, "other"]


def test_dependencies_without_for_each_stay_as_they_are() -> None:
    for written in (resource("last"), resource("last", depend_ids=["other"])):
        assert with_expanded_dependencies(written, {"domains": ("domains[a]",)}) is written


@pytest.mark.parametrize(
    ("count", "problem"), [(500, ""), (501, "the Tenant has 501 objects, and may have 500")]
)
def test_a_tenant_has_at_most_five_hundred_objects(count: int, problem: str) -> None:
    with outcome(problem):
        check_objects([resource(f"d[{number}]") for number in range(count)])


@pytest.mark.parametrize(
    ("resources", "problem"),
    [
        ([resource("d[a]"), resource("d[b]")], ""),
        ([resource("d[a]", "same"), resource("d[b]", "same")], "more than once"),
        ([resource("other", "same"), resource("d[b]", "same")], "more than once"),
        ([resource("d[a]", "one"), resource("d[a]", "two")], "more than once"),
        ([resource("one", "same"), resource("two", "same")], ""),
        ([resource("one", "a"), resource("one", "b")], ""),
    ],
    ids=[
        "different",
        "same object",
        "same as another",
        "same id",
        "without forEach",
        "same id without forEach",
    ],
)
def test_two_entries_do_not_make_the_same_object_or_id(resources: list[TResource], problem: str) -> None:
    with outcome(problem):
        check_objects(resources)
