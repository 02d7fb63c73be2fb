"""What a rollout is worth an event for: each thing once for a version of the template."""

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Emit
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.registry.rollouts import rollout_news

REF = Ref(TEMPLATE, Key("shop", "web-app"))


def status(phase: str, generation: int = 2) -> RolloutStatus:
    return RolloutStatus(phase=phase, target_generation=generation, message="1 of 3 Tenants")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "now", "held_back", "told"),
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
def test_each_turn_is_told_once(
    before: RolloutStatus | None, now: RolloutStatus | None, held_back: int, told: list[str]
) -> None:
    news = rollout_news(REF, now, before, held_back)
    assert [step.reason for step in news if isinstance(step, Emit)] == told


def test_how_many_wait_is_told() -> None:
    (news,) = rollout_news(REF, status("InProgress"), None, 2)
    assert isinstance(news, Emit)
    assert news.message.startswith("2 Tenants wait")
