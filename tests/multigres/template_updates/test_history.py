"""What waits for a cluster, what was in force, and how two contents differ."""

from typing import Any

import pytest

from steward.multigres.template_updates.history import (
    Change,
    accepting,
    back_to,
    difference,
    going_back,
    kept,
    waiting,
)
from steward.multigres.template_updates.revisions import Content, Revision, TemplateKey

GATE = TemplateKey("CellTemplate", "gate")
STD = TemplateKey("ShardTemplate", "std")


def content(generation: int, **spec: Any) -> Content:
    return Content("uid", generation, spec)


def revision(number: int, held: Content, template: TemplateKey = GATE) -> Revision:
    return Revision(f"{template.name}-{held.generation}", f"uid-{number}", number, template, held)


ONE, TWO, THREE = (content(n, multiGateway={"replicas": n}) for n in (1, 2, 3))
KNOWN = [revision(1, ONE), revision(2, TWO)]


def test_a_template_that_moved_on_waits() -> None:
    assert waiting(KNOWN, {GATE: THREE}) == [Change(GATE, TWO, THREE)]


@pytest.mark.parametrize(
    "live",
    [{}, {GATE: TWO}, {GATE: TWO._replace(generation=5)}, {GATE: TWO, STD: content(1)}],
    ids=["it is gone", "it is in force", "it says the same", "another one is not used"],
)
def test_nothing_waits(live: dict[TemplateKey, Content]) -> None:
    assert waiting(KNOWN, live) == []


def test_the_latest_comes_first_and_the_highest_number_is_in_force() -> None:
    back = [revision(3, ONE), revision(2, TWO), revision(1, content(1), STD)]
    assert [(each.revision.name, each.is_in_force) for each in kept(back)] == [
        ("gate-1", True),
        ("gate-2", False),
        ("std-1", True),
    ]


def test_going_back_is_a_change_like_any_other() -> None:
    assert back_to(KNOWN, "gate-1") == Change(GATE, TWO, ONE)
    assert back_to(KNOWN, "gate-9") is None


def test_the_difference_names_the_whole_path_of_each_value() -> None:
    old = content(1, pools={"main": {"replicasPerCell": 1, "cells": ["z1"]}}, empty={})
    new = content(2, pools={"main": {"replicasPerCell": 3, "cells": ["z1", "z2"]}}, empty={})
    lines = difference(Change(STD, old, new))
    assert lines[:2] == ["--- ShardTemplate/std generation 1", "+++ ShardTemplate/std generation 2"]
    assert {line for line in lines[2:] if line[0] in "+-"} == {
        "+pools.main.cells[1]: z2",
        "-pools.main.replicasPerCell: 1",
        "+pools.main.replicasPerCell: 3",
    }
    assert difference(Change(STD, old, old)) == []


def test_a_request_holds_for_the_cluster_as_it_was_seen() -> None:
    assert accepting("7").changes["metadata"] == {
        "annotations": {"multigres.com/apply-template-update": "true"},
        "resourceVersion": "7",
    }
    assert going_back("7", "gate-1").changes["metadata"]["annotations"] == {
        "multigres.com/rollback-template-update": "gate-1"
    }
