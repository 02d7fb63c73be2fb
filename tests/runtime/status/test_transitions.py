"""Which changes of a condition need an event."""

import pytest

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.runtime.plan.steps import Emit, EventType
from steward.runtime.status.transitions import condition_event, has_new_message, has_new_reason

PREVIOUS = (Condition("Ready", FALSE, "Waiting", "1 of 3"),)


@pytest.mark.parametrize(
    ("condition", "new_reason", "new_message"),
    [
        (Condition("Ready", FALSE, "Waiting", "1 of 3"), False, False),
        (Condition("Ready", FALSE, "Waiting", "2 of 3"), False, True),
        (Condition("Ready", FALSE, "Failed", "1 of 3"), True, False),
        (Condition("Ready", TRUE, "Waiting", "1 of 3"), True, True),
        (Condition("Degraded", TRUE, "Failed", "pod x"), True, True),
    ],
    ids=["same", "progress", "other reason", "other status", "new condition"],
)
def test_a_condition_is_compared_with_the_previous_one(condition, new_reason, new_message):
    assert has_new_reason(PREVIOUS, condition) is new_reason
    assert has_new_message(PREVIOUS, condition) is new_message


def test_an_event_has_the_reason_and_message_of_its_condition():
    ref = Ref(CONFIG_MAP, Key("ns", "c"))
    assert condition_event(ref, PREVIOUS[0], EventType.WARNING) == Emit(
        ref, "Waiting", "1 of 3", EventType.WARNING
    )
