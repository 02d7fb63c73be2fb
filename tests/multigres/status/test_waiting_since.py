"""Since when a condition has had its reason."""

import pytest

from steward.kube.objects.conditions import TRUE, Condition
from steward.multigres import reasons
from steward.multigres.status.waiting_since import with_since

NOW, BEFORE = "2026-01-02T03:04:05Z", "2026-01-02T03:00:00Z"


def waiting(reason: str, message: str = "waits") -> Condition:
    return Condition("ScaleDownPending", TRUE, reason, message)


@pytest.mark.parametrize(
    ("previous", "since"),
    [
        ([], NOW),
        ([waiting(reasons.STATE_UNKNOWN, f"waits for another (since {BEFORE})")], BEFORE),
        ([waiting(reasons.PRIMARY_UNKNOWN, f"waits (since {BEFORE})")], NOW),
        ([waiting(reasons.STATE_UNKNOWN, "waits")], NOW),
    ],
    ids=["first", "same reason", "other reason", "without a time"],
)
def test_the_time_stays_while_the_reason_does(previous: list[Condition], since: str) -> None:
    assert with_since(waiting(reasons.STATE_UNKNOWN), previous, NOW).message == f"waits (since {since})"


def test_progress_needs_no_time() -> None:
    assert with_since(waiting(reasons.SCALING_DOWN), [], NOW).message == "waits"
