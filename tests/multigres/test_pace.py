"""What somebody may have to look at is told sooner than mere progress, and the cluster's sooner than its parts'."""

import pytest

from steward.kube.kinds import Kind
from steward.multigres import reasons
from steward.multigres.controllers.pace import HELD_UP_SECONDS, PART_SECONDS, STILL_SECONDS, still_seconds
from steward.multigres.rules import CLUSTER, SHARD, TOPO_SERVER


@pytest.mark.parametrize(
    ("kind", "reason", "seconds"),
    [
        (CLUSTER, reasons.WAITING, STILL_SECONDS),
        (TOPO_SERVER, reasons.WAITING, STILL_SECONDS),
        (SHARD, reasons.WAITING, PART_SECONDS),
        (CLUSTER, reasons.HELD_UP, HELD_UP_SECONDS),
        (SHARD, reasons.HELD_UP, HELD_UP_SECONDS),
    ],
)
def test_how_long_news_stand_still_before_they_are_told(kind: Kind, reason: str, seconds: float) -> None:
    ready = {"type": "Ready", "reason": reason}
    other = {"type": "Available", "reason": "NothingServes"}
    assert still_seconds(kind, {"conditions": [ready, other]}) == seconds
