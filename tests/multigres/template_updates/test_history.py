"""Pending changes, revision history and diffs of templates."""

from typing import Any

import pytest

from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.history import (
    TemplateChange,
    accept_patch,
    diff_lines,
    pending_changes,
    revision_history,
    rollback_change,
    rollback_patch,
)
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision

GATE = TemplateKey("CellTemplate", "gate")
STD = TemplateKey("ShardTemplate", "std")


def content(generation: int, **spec: Any) -> TemplateContent:
    return TemplateContent("uid", generation, spec)


def revision(number: int, stored: TemplateContent, template: TemplateKey = GATE) -> TemplateRevision:
    return TemplateRevision(f"{template.name}-{stored.generation}", f"uid-{number}", number, template, stored)


ONE, TWO, THREE = (content(n, multiGateway={"replicas": n}) for n in (1, 2, 3))
REVISIONS = [revision(1, ONE), revision(2, TWO)]


def test_a_changed_template_is_pending() -> None:
    assert pending_changes(REVISIONS, {GATE: THREE}) == [TemplateChange(GATE, TWO, THREE)]


@pytest.mark.parametrize(
    "live",
    [{}, {GATE: TWO}, {GATE: TWO._replace(generation=5)}, {GATE: TWO, STD: content(1)}],
    ids=["deleted", "active", "equal content", "unused template"],
)
def test_nothing_is_pending(live: dict[TemplateKey, TemplateContent]) -> None:
    assert pending_changes(REVISIONS, live) == []


def test_the_latest_revision_comes_first_and_the_highest_number_is_active() -> None:
    rolled_back = [revision(3, ONE), revision(2, TWO), revision(1, content(1), STD)]
    assert [(each.revision.name, each.is_active) for each in revision_history(rolled_back)] == [
        ("gate-1", True),
        ("gate-2", False),
        ("std-1", True),
    ]


def test_a_rollback_is_a_change() -> None:
    assert rollback_change(REVISIONS, "gate-1") == TemplateChange(GATE, TWO, ONE)
    assert rollback_change(REVISIONS, "gate-9") is None


def test_the_diff_shows_the_full_path_of_each_value() -> None:
    old = content(1, pools={"main": {"replicasPerCell": 1, "cells": ["z1"]}}, empty={})
    new = content(2, pools={"main": {"replicasPerCell": 3, "cells": ["z1", "z2"]}}, empty={})
    lines = diff_lines(TemplateChange(STD, old, new))
    assert lines[:2] == ["--- ShardTemplate/std generation 1", "+++ ShardTemplate/std generation 2"]
    assert {line for line in lines[2:] if line[0] in "+-"} == {
        "+pools.main.cells[1]: z2",
        "-pools.main.replicasPerCell: 1",
        "+pools.main.replicasPerCell: 3",
    }
    assert diff_lines(TemplateChange(STD, old, old)) == []


def test_patches_are_conditional_on_the_resource_version() -> None:
    assert accept_patch("7").changes["metadata"] == {
        "annotations": {"multigres.com/apply-template-update": "true"},
        "resourceVersion": "7",
    }
    assert rollback_patch("7", "gate-1").changes["metadata"]["annotations"] == {
        "multigres.com/rollback-template-update": "gate-1"
    }
