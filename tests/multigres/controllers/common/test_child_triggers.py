"""Which changes of a child trigger its owner without a delay."""

from typing import Any

import msgspec
import pytest

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.kinds import Key
from steward.multigres.cache_rules import CELL, MultigresCacheRules
from steward.multigres.controllers.common.child_triggers import CHILDREN, OBJECTS, owned_triggers
from steward.multigres.views import CellView

AT_ONCE, SOON = 0.0, CHILDREN.seconds


def cell(generation: int = 1, /, **conditions: str) -> CellView:
    reported = [
        {"type": type_, "status": status, "reason": "X", "message": "", "lastTransitionTime": "t"}
        for type_, status in conditions.items()
    ]
    metadata = {"name": "z1", "namespace": "shop", "uid": "1", "generation": generation}
    status: dict[str, Any] = {"conditions": reported} if reported else {}
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
    ids=[
        "created",
        "initial status",
        "progress",
        "ready",
        "unready",
        "problem",
        "problem solved",
        "edited",
        "deleted",
    ],
)
def test_a_change_of_a_childs_health_is_not_debounced(
    old: CellView | None, new: CellView | None, seconds: float
) -> None:
    # The operator owns the status as well, so owned fields change with every status update.
    change: ObjectChange[Any] = ObjectChange(CELL, Key("shop", "z1"), old, new, False, True)
    assert CHILDREN.seconds_for(change) == seconds


def test_each_kind_of_child_has_its_debounce_period() -> None:
    rules = MultigresCacheRules("steward")
    assert [trigger.debounce for trigger in owned_triggers((rules.cell, rules.service))] == [
        CHILDREN,
        OBJECTS,
    ]
