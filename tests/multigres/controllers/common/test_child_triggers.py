"""Which news of a child the owner looks at without delay."""

from typing import Any

import msgspec
import pytest

from steward.kube.cache.store import Change
from steward.kube.objects.kinds import Key
from steward.multigres.cache_rules import CELL, Rules
from steward.multigres.controllers.common.child_triggers import CHILDREN, OBJECTS, owned
from steward.multigres.views import CellView

AT_ONCE, SOON = 0.0, CHILDREN.seconds


def cell(generation: int = 1, /, **conditions: str) -> CellView:
    told = [
        {"type": type_, "status": status, "reason": "X", "message": "", "lastTransitionTime": "t"}
        for type_, status in conditions.items()
    ]
    metadata = {"name": "z1", "namespace": "shop", "uid": "1", "generation": generation}
    status: dict[str, Any] = {"conditions": told} if told else {}
    return msgspec.convert({"metadata": metadata, "spec": {"name": "z1"}, "status": status}, CellView)


@pytest.mark.parametrize(
    ("old", "new", "seconds"),
    [
        (None, cell(), SOON),
        (cell(), cell(Ready="False", Degraded="False"), SOON),
        (cell(Ready="False"), cell(Ready="False", Available="True"), SOON),
        (cell(Ready="False"), cell(Ready="True"), AT_ONCE),
        (cell(Ready="True"), cell(Ready="False"), AT_ONCE),
        (cell(Ready="False"), cell(Ready="False", Degraded="True"), AT_ONCE),
        (cell(Ready="False", Stalled="True"), cell(Ready="False"), AT_ONCE),
        (cell(1), cell(2), AT_ONCE),
        (cell(Ready="True"), None, AT_ONCE),
    ],
    ids=["made", "first word", "progress", "ready", "lost", "trouble", "its end", "edited", "gone"],
)
def test_the_verdict_of_a_child_is_passed_on_at_once(
    old: CellView | None, new: CellView | None, seconds: float
) -> None:
    # The status is ours too, so that something which we own changes with every word in it.
    change: Change[Any] = Change(CELL, Key("shop", "z1"), old, new, False, True)
    assert CHILDREN.of(change) == seconds


def test_each_kind_of_child_has_its_patience() -> None:
    rules = Rules("steward")
    assert [trigger.patience for trigger in owned((rules.cell, rules.service))] == [CHILDREN, OBJECTS]
