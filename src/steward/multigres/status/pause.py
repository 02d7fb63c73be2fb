"""The status of a cluster whose spec is paused. Pure.

Its health is reported as usual, from what runs; phase and message say that nothing is changed, and since when.
"""

from typing import Any

from steward.kube.objects.conditions import TRUE, Condition, find_condition
from steward.kube.objects.kinds import Manifest
from steward.multigres import reasons
from steward.multigres.status.conditions import PAUSED, read_conditions
from steward.multigres.views import ClusterView

MESSAGE = "the operator changes nothing until spec.paused is false"


def is_paused(cluster: ClusterView) -> bool:
    """A cluster that is being deleted is not: finalizers must not wait for an edit of the spec."""
    return cluster.spec.get("paused") is True and cluster.metadata.deletion_timestamp is None


def paused_since(cluster: ClusterView) -> str:
    """The time at which the status first reported the pause; empty for a cluster that is not paused."""
    condition = find_condition(read_conditions(cluster.status.conditions), PAUSED)
    return (condition.last_transition_time or "") if condition is not None and is_paused(cluster) else ""


def pause_conditions(cluster: ClusterView) -> tuple[Condition, ...]:
    """The condition, which only exists while the cluster is paused."""
    if not is_paused(cluster):
        return ()
    return (Condition(PAUSED, TRUE, reasons.PAUSED, MESSAGE, cluster.metadata.generation),)


def with_paused_phase(status: Manifest) -> Manifest:
    paused = _paused_condition(status)
    if paused is None:
        return status
    message = f"paused since {paused['lastTransitionTime']}: {MESSAGE}; {status['message']}"
    return {**status, "phase": PAUSED, "message": message}


def _paused_condition(status: Manifest) -> dict[str, Any] | None:
    return next((each for each in status["conditions"] if each["type"] == PAUSED), None)
