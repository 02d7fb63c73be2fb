"""Which changes of a condition are worth an event."""

import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Ref
from steward.multigres import reasons
from steward.multigres.api.status import Condition as Told
from steward.multigres.cache_rules import SHARD
from steward.multigres.status.conditions import ROLLING_UPDATE
from steward.multigres.status.events import news
from steward.runtime.plan.steps import Emit, EventType

REF = Ref(SHARD, Key("shop", "s"))


def told(reason: str, before: str) -> list[tuple[str, EventType]]:
    was = [Told(ROLLING_UPDATE, "True", before, "before", "2026-01-01T00:00:00Z")] if before else []
    events = news(REF, was, [Condition(ROLLING_UPDATE, "True", reason, "now", 1)])
    return [(event.reason, event.type) for event in events if isinstance(event, Emit)]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("", reasons.PODS_UP_TO_DATE),
        (reasons.REVISION_PENDING, reasons.PODS_UP_TO_DATE),
        (reasons.PODS_UP_TO_DATE, reasons.REVISION_PENDING),
        (reasons.ROLLING, reasons.ROLLING),
    ],
)
def test_what_is_at_rest_or_as_before_is_no_news(before: str, now: str) -> None:
    assert told(now, before) == []


@pytest.mark.parametrize(
    ("before", "now", "type_"),
    [
        (reasons.PODS_UP_TO_DATE, reasons.ROLLING, EventType.NORMAL),
        (reasons.ROLLING, reasons.PODS_UP_TO_DATE, EventType.NORMAL),
        (reasons.ROLLING, reasons.ROLLOUT_STOPPED, EventType.WARNING),
        ("", reasons.ROLLOUT_STOPPED, EventType.WARNING),
    ],
)
def test_a_new_reason_is_told_once_and_worries_where_it_should(
    before: str, now: str, type_: EventType
) -> None:
    assert told(now, before) == [(now, type_)]
