"""Switches the primary before a node is drained. Pure.

The eviction webhook denies the eviction of a primary that another server can replace, and asks for a switch by an
annotation on the Shard. Webhooks run in every operator process, the Shard controller in one of them only: the
annotation is what they share, and survives both.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres.api.shard import ServerStatus
from steward.multigres.rollout.pods import ShardPods
from steward.multigres.rollout.quorum import can_meet_policy, cohort_of, keeps_quorum
from steward.multigres.servers.assessment import ServerState
from steward.runtime.plan.steps import Patch

SWITCH_FROM = "multigres.com/switch-primary-from"
"""The pod that is to be evicted, or no longer to be the primary. Written by the eviction webhook and by `steward
switchover`, removed by the Shard controller."""


PRIMARY, READY = "Primary", ServerState.READY.value


class DrainDecision(NamedTuple):
    """`switch_from` is the primary to switch; `is_pending` while its pod is to be evicted, `is_over` if the annotation
    has served its purpose; `evicted` is the only server of the shard, which ends with its node."""

    switch_from: str = ""
    is_pending: bool = False
    is_over: bool = False
    evicted: str = ""


def decide_drain(pods: ShardPods, annotations: Mapping[str, str]) -> DrainDecision:
    name = annotations.get(SWITCH_FROM, "")
    if not name:
        return DrainDecision()
    if all(member.name != name or member.is_terminating for member in pods.members):
        return DrainDecision(is_over=True, evicted=name if len(pods.server_ids) == 1 else "")
    if not pods.servers.is_current or pods.primary is None:
        return DrainDecision(is_pending=True)
    if pods.primary != name or len(pods.server_ids) == 1:
        return DrainDecision(is_over=True)
    return DrainDecision(name if can_be_led_by_another(pods, name) else "", is_pending=True)


def can_be_led_by_another(pods: ShardPods, primary: str) -> bool:
    """Whether another server can take over, and the shard goes on when the pod of this one ends."""
    others, cohort = [name for name in pods.server_ids if name != primary], cohort_of(pods).without(primary)
    return keeps_quorum(pods, cohort) if can_meet_policy(pods, others) else bool(cohort.reachable)


def blocks_eviction(servers: Sequence[ServerStatus], pod: str) -> bool:
    """Whether a pod is a healthy primary that another healthy server could replace, by the status of its Shard."""
    is_primary = any(each.pod == pod and each.role == PRIMARY and each.state == READY for each in servers)
    return is_primary and any(each.pod != pod and each.state == READY for each in servers)


def is_only_server(servers: Sequence[ServerStatus], pod: str) -> bool:
    return [each.pod for each in servers] == [pod]


def clear_drain_step(shard: Ref) -> Patch:
    return Patch(shard, MergePatch({"metadata": {"annotations": {SWITCH_FROM: None}}}))
