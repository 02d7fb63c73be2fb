"""Decides how the pods of a shard are replaced, and how its pools scale down. Pure.

At most one server of a shard is away at a time, in all of its pools and cells. The primary is replaced last, and only
the topology says which pod it is. A server is replaced only while all others are ready, with one exception: a server
that is failing and outdated serves no client, so replacing it costs nothing, and waiting for it would keep a bad spec
from ever being corrected. A server that fails on the newest revision stops the rollout until the spec changes.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.rollout.volumes import ordinal_of
from steward.multigres.status.pod_problems import pod_problem
from steward.multigres.views import PodView, StatefulSetView

REVISION = "controller-revision-hash"
UNREADY_SECONDS = 60.0
"""A server that has been unready for this long is not expected to become ready without a change."""


class Member(NamedTuple):
    """One Postgres server of the shard; `problem` says why it is failing, "" if it is not."""

    name: str
    uid: str
    ordinal: int
    is_outdated: bool
    is_ready: bool
    is_terminating: bool
    problem: str = ""


class PoolState(NamedTuple):
    """One StatefulSet of the shard, desired and live. `may_lead` is false for read-only pools."""

    name: str
    desired_replicas: int
    live: StatefulSetView | None
    may_lead: bool
    members: tuple[Member, ...] = ()

    @property
    def is_observed(self) -> bool:
        """Whether the StatefulSet controller has observed the latest change, so that its newest revision is known."""
        live = self.live
        return live is not None and live.status.observed_generation >= live.metadata.generation

    @property
    def replicas(self) -> int:
        """The replicas of the set; while the set is recreated, the number that its existing pods imply."""
        if self.live is not None:
            return self.live.spec.replicas
        return max((member.ordinal + 1 for member in self.members if not member.is_terminating), default=0)

    @property
    def missing(self) -> list[str]:
        existing = {member.ordinal for member in self.members}
        return [f"{self.name}-{ordinal}" for ordinal in range(self.replicas) if ordinal not in existing]


class ShardPods(NamedTuple):
    """The live pods of a shard. `primary` is the name of the primary's pod; None if it is unknown."""

    pools: tuple[PoolState, ...]
    primary: str | None

    @property
    def members(self) -> list[Member]:
        """Servers in the order in which they are replaced: the highest ordinal of each pool first."""
        return [
            member
            for pool in sorted(self.pools)
            for member in sorted(pool.members, key=lambda member: -member.ordinal)
        ]

    @property
    def has_candidates(self) -> bool:
        """Whether more than one server could be the primary: with a single server the order does not matter."""
        return sum(len(pool.members) for pool in self.pools if pool.may_lead) > 1


class RolloutDecision(NamedTuple):
    """The next step of a rolling update, if one is in progress."""

    is_rolling: bool
    reason: str
    message: str
    replace: Member | None = None
    problem: str = ""


REVISION_UNKNOWN = RolloutDecision(
    False, reasons.REVISION_PENDING, "a StatefulSet has yet to name its newest revision"
)
UP_TO_DATE = RolloutDecision(False, reasons.PODS_UP_TO_DATE, "every pod runs the newest revision")


def members_of(
    pool: str, live: StatefulSetView | None, pods: Iterable[PodView], now: float
) -> tuple[Member, ...]:
    newest = "" if live is None else live.status.update_revision
    return tuple(
        _member(pod, ordinal, newest, now)
        for pod in pods
        if (ordinal := ordinal_of(pod.metadata.name, pool)) is not None
    )


def _member(pod: PodView, ordinal: int, newest: str, now: float) -> Member:
    meta = pod.metadata
    ready = is_ready(pod)
    return Member(
        meta.name,
        meta.uid,
        ordinal,
        is_outdated=bool(newest) and meta.labels.get(REVISION) != newest,
        is_ready=ready,
        is_terminating=meta.deletion_timestamp is not None,
        problem="" if ready else _problem(pod, now),
    )


def is_ready(pod: PodView) -> bool:
    ready = any(
        condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions
    )
    return ready and pod.metadata.deletion_timestamp is None


def _problem(pod: PodView, now: float) -> str:
    if problem := pod_problem(pod):
        return problem
    if now - _unready_since(pod, now) < UNREADY_SECONDS:
        return ""
    return f"pod {pod.metadata.name} has not been ready for {UNREADY_SECONDS:.0f} s"


def _unready_since(pod: PodView, now: float) -> float:
    conditions = pod.status.conditions
    since = next((each.last_transition_time for each in conditions if each.type == "Ready"), None)
    return _time_of(since, pod.metadata, now)


def _time_of(since: str | None, meta: ObjectMeta, now: float) -> float:
    stamp = since or meta.creation_timestamp
    return from_timestamp(stamp) if stamp else now


def decide_rollout(pods: ShardPods) -> RolloutDecision:
    """The next step of a rolling update."""
    unknown = [pool.name for pool in sorted(pods.pools) if not pool.is_observed]
    outdated = [member for member in pods.members if member.is_outdated and not member.is_terminating]
    if not any(member.is_outdated for member in pods.members):
        return REVISION_UNKNOWN if unknown else UP_TO_DATE
    if unknown:
        return _waits(reasons.ROLLING, f"waits until the new revision of {unknown[0]} is known")
    away = [member.name for member in pods.members if member.is_terminating]
    away += [name for pool in sorted(pods.pools) for name in pool.missing]
    if away:
        return _waits(reasons.ROLLING, f"waits until pod {away[0]} is replaced, {len(outdated)} more to go")
    return _if_failing(pods, outdated) or _if_unready(pods, outdated) or _in_order(pods, outdated)


def _if_failing(pods: ShardPods, outdated: Sequence[Member]) -> RolloutDecision | None:
    """A failing outdated server is replaced first; a failing new one stops the rollout."""
    replaceable = _primary_last([member for member in outdated if member.problem], pods.primary)
    if replaceable:
        return _replaces(replaceable[0], outdated)
    failed = [member for member in pods.members if member.problem]
    if not failed:
        return None
    cure = "correct the spec, and it continues by itself"
    message = f"stopped with {len(outdated)} pods to go: {failed[0].problem}; {cure}"
    return RolloutDecision(True, reasons.ROLLOUT_STOPPED, message, problem=f"the rolling update {message}")


def _if_unready(pods: ShardPods, outdated: Sequence[Member]) -> RolloutDecision | None:
    unready = [member for member in pods.members if not member.is_ready]
    if not unready:
        return None
    [first, *others] = unready
    # If the only unready server is the next to be replaced, replacing it now costs no availability.
    if not others and first in outdated and pods.primary not in (None, first.name):
        return _replaces(first, outdated)
    return _waits(reasons.ROLLING, f"waits until pod {first.name} is ready, {len(outdated)} more to go")


def _in_order(pods: ShardPods, outdated: Sequence[Member]) -> RolloutDecision:
    if pods.primary is None and pods.has_candidates:
        message = f"waits until the topology says which pod is the primary, {len(outdated)} more to go"
        return _waits(reasons.PRIMARY_UNKNOWN, message)
    return _replaces(_primary_last(outdated, pods.primary)[0], outdated)


def _primary_last(members: Sequence[Member], primary: str | None) -> list[Member]:
    return sorted(members, key=lambda member: member.name == primary)


def _replaces(member: Member, outdated: Sequence[Member]) -> RolloutDecision:
    message = f"replaces pod {member.name}, {len(outdated) - 1} more to go"
    return RolloutDecision(True, reasons.ROLLING, message, member)


def _waits(reason: str, message: str) -> RolloutDecision:
    return RolloutDecision(True, reason, message)


class ScaleDecision(NamedTuple):
    """The replicas that a pool may have now; `reason` and `message` say why they are not the desired ones yet."""

    replicas: int
    reason: str = ""
    message: str = ""


def decide_scale(pool: PoolState, pods: ShardPods) -> ScaleDecision:
    """Scales down by one at a time, highest ordinal first, and never below the primary while another can take over."""
    now = pool.replicas
    if now <= pool.desired_replicas or not pool.may_lead or not _has_desired_leaders(pods):
        return ScaleDecision(pool.desired_replicas)
    waits = f"scaling {pool.name} down from {now} to {pool.desired_replicas} waits"
    if pods.primary is None and (pods.has_candidates or _has_successor(pool, pods)):
        message = f"{waits} until the topology says which pod is the primary"
        return ScaleDecision(now, reasons.PRIMARY_UNKNOWN, message)
    if pods.primary == f"{pool.name}-{now - 1}":
        message = f"{waits} until another pod has taken over: {pods.primary} is the primary, switch it to another one"
        return ScaleDecision(now, reasons.PRIMARY_WOULD_GO, message)
    ending = [member.name for member in pool.members if member.ordinal >= now or member.is_terminating]
    if ending:
        return ScaleDecision(now, reasons.SCALING_DOWN, f"{waits} until pod {ending[0]} is gone")
    left = now - 1
    if left <= pool.desired_replicas:
        return ScaleDecision(left)
    return ScaleDecision(left, reasons.SCALING_DOWN, f"{waits} until pod {pool.name}-{left} is gone")


def _has_desired_leaders(pods: ShardPods) -> bool:
    return any(pool.desired_replicas for pool in pods.pools if pool.may_lead)


def _has_successor(pool: PoolState, pods: ShardPods) -> bool:
    """Even a single server may be the primary: the servers of other pools may not have its data yet."""
    others = (other for other in pods.pools if other.may_lead and other.name != pool.name)
    return bool(pool.members) and any(other.desired_replicas for other in others)
