"""Decides whether a pool that is no longer desired may be removed: not while it has the primary of its shard. Pure.

The topology says which pod is the primary. A pool with the primary waits for a user to switch it for as long as it
would wait for its connections; then it shuts down in order, and another server takes over, as when the primary's pod is
replaced. No pool is removed, with or without the primary, while no server that stays is ready. While the primary is
unknown the pool waits; the operator never guesses. Only if the topology cannot say, because it does not answer or has
no record of the pool, is the pool treated like the one with the primary: a shard whose topology is gone for good must
still be able to lose a pool.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.durations import format_duration
from steward.kube.objects.kinds import STATEFUL_SET, Ref
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres import reasons
from steward.multigres.deletion.annotations import FORCE, REMOVAL_REQUESTED
from steward.multigres.rollout.pods import PoolState
from steward.runtime.plan.steps import Patch

_UNREADY = "until a server that stays is ready: until then its copy of the data is needed"


class TopologyAnswer(NamedTuple):
    """The topology's latest answer: whether there was one, and which pods are registered there."""

    is_answered: bool
    registered: frozenset[str] = frozenset()


class PrimaryHandover(NamedTuple):
    """The primary's pod, None if unknown, and whether a pool that stays could take over: at all, and now. `answer` is
    None until the topology was read after the last change of the pods."""

    primary: str | None = None
    has_successor: bool = False
    is_successor_ready: bool = False
    answer: TopologyAnswer | None = None

    def is_unresolvable(self, pods: Sequence[str]) -> bool:
        """Whether the topology will not name a primary among these pods, however long the operator waits."""
        if self.answer is None:
            return False
        return not self.answer.is_answered or self.answer.registered.isdisjoint(pods)


class HandoverWait(NamedTuple):
    """Why a pool is not removed yet."""

    reason: str
    message: str
    steps: tuple[Patch, ...] = ()


class RemovedPool(NamedTuple):
    """A workload that is no longer desired. `annotated` has the annotations: the workload itself, or one of its pods if
    the workload does not exist any more."""

    ref: Ref
    annotations: Mapping[str, str]
    pods: Sequence[str]
    annotated: Ref | None = None


def primary_handover(pools: Sequence[PoolState], primary: str | None) -> PrimaryHandover:
    """`pools` are those that stay."""
    successors = [pool for pool in pools if pool.may_lead and pool.desired_replicas]
    servers = [member for pool in successors for member in pool.members]
    is_ready = any(member.is_ready and not member.is_terminating for member in servers)
    return PrimaryHandover(primary, bool(successors), is_ready)


def handover_wait(
    pool: RemovedPool, handover: PrimaryHandover, now: float, max_seconds: float
) -> HandoverWait | None:
    """Why the pool is not removed yet; None if it may be."""
    if pool.ref.kind != STATEFUL_SET or not pool.pods or not handover.has_successor:
        return None
    waits, ready = f"removing {pool.ref.key.name} waits", handover.is_successor_ready
    if handover.primary is None:
        if handover.is_unresolvable(pool.pods) and ready and _is_over(pool, now, max_seconds):
            return None
        limit = _limit_message(pool, handover, max_seconds)
        message = f"{waits} until the topology says which pod is the primary{limit}"
        return HandoverWait(reasons.PRIMARY_UNKNOWN, message, _request_steps(pool, now))
    if handover.primary not in pool.pods:
        return None if ready else HandoverWait(reasons.NO_OTHER_READY, f"{waits} {_UNREADY}")
    if ready and _is_over(pool, now, max_seconds):
        return None
    message = f"{waits} until another pod has taken over: {_switch_message(handover, max_seconds)}"
    return HandoverWait(reasons.PRIMARY_WOULD_GO, message, _request_steps(pool, now))


def _limit_message(pool: RemovedPool, handover: PrimaryHandover, max_seconds: float) -> str:
    if handover.answer is None:
        return ""
    if not handover.is_unresolvable(pool.pods):
        return f'; with {FORCE}: "true" on its Shard it is removed nevertheless'
    if not handover.is_successor_ready:
        return ", and no server that stays is ready"
    return f", at most {format_duration(max_seconds)}: it cannot tell"


def _switch_message(handover: PrimaryHandover, max_seconds: float) -> str:
    if not handover.is_successor_ready:
        return f"{handover.primary} is the primary, and no server that stays is ready"
    return (
        f"{handover.primary} is the primary. Switch it to another one, or it shuts down by itself in "
        f"{format_duration(max_seconds)} at most"
    )


def _is_over(pool: RemovedPool, now: float, max_seconds: float) -> bool:
    requested = _requested_at(pool)
    return requested is not None and now - requested >= max_seconds


def _request_steps(pool: RemovedPool, now: float) -> tuple[Patch, ...]:
    if _requested_at(pool) is not None:
        return ()
    # An annotation on the set itself: the time since which it waits survives a restart.
    annotations = {REMOVAL_REQUESTED: to_timestamp(now)}
    return (Patch(pool.annotated or pool.ref, MergePatch({"metadata": {"annotations": annotations}})),)


def _requested_at(pool: RemovedPool) -> float | None:
    try:
        return from_timestamp(pool.annotations[REMOVAL_REQUESTED])
    except (KeyError, ValueError):
        return None
