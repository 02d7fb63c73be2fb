"""Which changes of a condition are worth an event."""

import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Ref
from steward.multigres import reasons
from steward.multigres.api.status import Condition as ApiCondition
from steward.multigres.cache_rules import SHARD
from steward.multigres.status.conditions import ROLLING_UPDATE
from steward.multigres.status.events import condition_events
from steward.runtime.plan.steps import Emit, EventType

REF = Ref(SHARD, Key("shop", "s"))


def emitted(reason: str, previous: str) -> list[tuple[str, EventType]]:
    conditions = (
        [ApiCondition(ROLLING_UPDATE, "True", previous, "before", "2026-01-01T00:00:00Z")] if previous else []
    )
    events = condition_events(REF, conditions, [Condition(ROLLING_UPDATE, "True", reason, "now", 1)])
    return [(event.reason, event.type) for event in events if isinstance(event, Emit)]


@pytest.mark.parametrize(
    ("previous", "current"),
    [
        ("", reasons.PODS_UP_TO_DATE),
        (reasons.REVISION_PENDING, reasons.PODS_UP_TO_DATE),
        (reasons.PODS_UP_TO_DATE, reasons.REVISION_PENDING),
        (reasons.ROLLING, reasons.ROLLING),
    ],
)
def test_an_idle_or_unchanged_reason_emits_no_event(previous: str, current: str) -> None:
    assert emitted(current, previous) == []


@pytest.mark.parametrize(
    ("previous", "current", "type_"),
    [
        (reasons.PODS_UP_TO_DATE, reasons.ROLLING, EventType.NORMAL),
        (reasons.ROLLING, reasons.PODS_UP_TO_DATE, EventType.NORMAL),
        (reasons.ROLLING, reasons.ROLLOUT_STOPPED, EventType.WARNING),
        ("", reasons.ROLLOUT_STOPPED, EventType.WARNING),
    ],
)
def test_a_new_reason_emits_one_event_of_the_right_type(
    previous: str, current: str, type_: EventType
) -> None:
    assert emitted(current, previous) == [(current, type_)]
