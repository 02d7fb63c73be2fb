"""How long news of mere progress has to stand still before it goes into a status. See `runtime.pace`."""

from steward.kube.kinds import Kind, Manifest
from steward.multigres import reasons
from steward.multigres.rules import CLUSTER, TOPO_SERVER

STILL_SECONDS = 5.0
PART_SECONDS = 10.0
"""The same for the parts of a cluster, whose progress few people look at. Whether a topology server has a member that
answers is waited for, so its progress is told as soon as the cluster's."""
HELD_UP_SECONDS = 1.5
"""The same for what has a cause that somebody may have to look at."""


def still_seconds(kind: Kind, status: Manifest) -> float:
    if any(condition["reason"] == reasons.HELD_UP for condition in status["conditions"]):
        return HELD_UP_SECONDS
    return STILL_SECONDS if kind in (CLUSTER, TOPO_SERVER) else PART_SECONDS
