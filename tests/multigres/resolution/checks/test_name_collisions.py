"""Components of a cluster whose objects would have the same name are rejected."""

from typing import Any

import msgspec

from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.resolution.validation import validate

# Found by brute force: equal after character replacement, with the same hash.
ONE = ("a-a_a_a-a-a_a_a-a-a", "b-b_b_b-b_b_b_b_b-b")
OTHER = ("a-a-a-a_a_a_a-a-a_a", "b_b_b-b-b_b-b-b-b_b")


def problems(*groups: tuple[str, str]) -> list[tuple[str, str]]:
    databases: list[Any] = [{"name": name, "tablegroups": [{"name": group}]} for name, group in groups]
    spec = msgspec.convert({"cells": [{"zone": "z1"}], "databases": databases}, MultigresClusterSpec)
    found = validate(spec, resolve(ClusterIdentity("ns", "mini"), spec, Templates({}, {}, {})))
    return [(problem.field, problem.message) for problem in found]


def test_both_have_the_same_name() -> None:
    assert names.table_group("mini", *ONE) == names.table_group("mini", *OTHER)


def test_each_alone_is_valid() -> None:
    assert problems(ONE) == problems(OTHER) == []


def test_both_together_are_rejected_and_both_are_named() -> None:
    [(field, message), *_] = problems(ONE, OTHER)
    assert field == f"spec.databases[{OTHER[0]}].tablegroups[{OTHER[1]}]"
    assert f"like that of spec.databases[{ONE[0]}].tablegroups[{ONE[1]}]; rename one of the two" in message
