"""Events of a rollout: each once for a generation of the template."""

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Emit
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.registry.rollouts import rollout_events

REF = Ref(TEMPLATE, Key("shop", "web-app"))


def status(phase: str, generation: int = 2) -> RolloutStatus:
    return RolloutStatus(phase=phase, target_generation=generation, message="1 of 3 Tenants")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("previous", "now", "waiting", "expected"),
    [
        (None, status("InProgress"), 2, ["RolloutThrottled"]),
        (status("Complete", 1), status("InProgress"), 2, ["RolloutThrottled"]),
        (status("InProgress"), status("InProgress"), 2, []),
        (None, status("InProgress"), 0, []),
        (status("InProgress"), status("Failed"), 2, ["RolloutFailed"]),
        (status("Failed", 1), status("Failed"), 2, ["RolloutFailed"]),
        (status("Failed"), status("Failed"), 2, []),
        (status("Failed", 1), status("InProgress"), 1, ["RolloutThrottled"]),
        (status("InProgress"), status("Complete"), 0, []),
        (status("InProgress"), None, 0, []),
    ],
)
def test_each_transition_has_one_event(
    previous: RolloutStatus | None, now: RolloutStatus | None, waiting: int, expected: list[str]
) -> None:
    events = rollout_events(REF, now, previous, waiting)
    assert [step.reason for step in events if isinstance(step, Emit)] == expected


def test_the_number_of_waiting_tenants_is_reported() -> None:
    (event,) = rollout_events(REF, status("InProgress"), None, 2)
    assert isinstance(event, Emit)
    assert event.message.startswith("2 Tenants wait")
