"""How the pods of a shard are replaced, and how its pools shrink. Pure.

One server of a shard is away at a time, whatever pools and cells it has; the primary is the last to be replaced, and
nobody guesses who that is. A server goes only while all others are ready. The one exception is a server that is broken
and outdated: it serves nobody, so replacing it costs nothing, and waiting for it would keep a mistake from ever being
mended. A server that broke on the newest revision ends the rollout until the spec changes.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.rollout.volumes import ordinal_of
from steward.multigres.status.pod_problems import pod_trouble
from steward.multigres.views import PodView, StatefulSetView

REVISION = "controller-revision-hash"
PATIENCE_SECONDS = 60.0
"""A server that has not been ready for so long will not become ready by itself."""


class Member(NamedTuple):
    """One Postgres server of the shard. `trouble` says why it is broken, and is empty while it is not."""

    name: str
    uid: str
    ordinal: int
    is_outdated: bool
    is_ready: bool
    is_leaving: bool
    trouble: str = ""


class Pool(NamedTuple):
    """One StatefulSet of the shard: what is asked for, and what is there."""

    name: str
    wanted: int
    seen: StatefulSetView | None
    may_lead: bool
    members: tuple[Member, ...] = ()

    @property
    def is_observed(self) -> bool:
        """Whether the set's controller has seen the last change, so that its newest revision is the one asked for."""
        seen = self.seen
        return seen is not None and seen.status.observed_generation >= seen.metadata.generation

    @property
    def replicas(self) -> int:
        """How many there are by the set; while it is made again, by the pods that it will find."""
        if self.seen is not None:
            return self.seen.spec.replicas
        return max((member.ordinal + 1 for member in self.members if not member.is_leaving), default=0)

    @property
    def missing(self) -> list[str]:
        there = {member.ordinal for member in self.members}
        return [f"{self.name}-{ordinal}" for ordinal in range(self.replicas) if ordinal not in there]


class Scene(NamedTuple):
    """The shard as it is. `primary` is the name of the pod that leads; None when nobody knows."""

    pools: tuple[Pool, ...]
    primary: str | None

    @property
    def members(self) -> list[Member]:
        """Servers in the order in which they are replaced: the highest ordinal of each pool first."""
        return [
            member
            for pool in sorted(self.pools)
            for member in sorted(pool.members, key=lambda each: -each.ordinal)
        ]

    @property
    def has_choice(self) -> bool:
        """Whether somebody else could lead: a shard with one server has no order to get wrong."""
        return sum(len(pool.members) for pool in self.pools if pool.may_lead) > 1


class Verdict(NamedTuple):
    """What a rolling change does next, if it is on at all."""

    is_rolling: bool
    reason: str
    message: str
    replace: Member | None = None
    trouble: str = ""


UNKNOWN_YET = Verdict(False, reasons.REVISION_PENDING, "a StatefulSet has yet to name its newest revision")
UP_TO_DATE = Verdict(False, reasons.PODS_UP_TO_DATE, "every pod runs the newest revision")


def members_of(
    pool: str, seen: StatefulSetView | None, pods: Iterable[PodView], now: float
) -> tuple[Member, ...]:
    newest = "" if seen is None else seen.status.update_revision
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
        is_leaving=meta.deletion_timestamp is not None,
        trouble="" if ready else _trouble(pod, now),
    )


def is_ready(pod: PodView) -> bool:
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return ready and pod.metadata.deletion_timestamp is None


def _trouble(pod: PodView, now: float) -> str:
    if told := pod_trouble(pod):
        return told
    since = next((each.last_transition_time for each in pod.status.conditions if each.type == "Ready"), None)
    if now - _moment(since, pod.metadata, now) < PATIENCE_SECONDS:
        return ""
    return f"pod {pod.metadata.name} has not been ready for {PATIENCE_SECONDS:.0f} s"


def _moment(since: str | None, meta: ObjectMeta, now: float) -> float:
    stamp = since or meta.creation_timestamp
    return from_timestamp(stamp) if stamp else now


def judge(scene: Scene) -> Verdict:
    """The next step of a rolling change."""
    unknown = [pool.name for pool in sorted(scene.pools) if not pool.is_observed]
    outdated = [member for member in scene.members if member.is_outdated and not member.is_leaving]
    if not any(member.is_outdated for member in scene.members):
        return UNKNOWN_YET if unknown else UP_TO_DATE
    if unknown:
        return _waits(reasons.ROLLING, f"waits until the new revision of {unknown[0]} is known")
    away = [member.name for member in scene.members if member.is_leaving]
    away += [name for pool in sorted(scene.pools) for name in pool.missing]
    if away:
        return _waits(reasons.ROLLING, f"waits until pod {away[0]} is replaced, {len(outdated)} more to go")
    return _broken(scene, outdated) or _unready(scene, outdated) or _in_order(scene, outdated)


def _broken(scene: Scene, outdated: Sequence[Member]) -> Verdict | None:
    """What is broken and outdated is mended first; what is broken and new ends the rollout."""
    mendable = _primary_last([member for member in outdated if member.trouble], scene.primary)
    if mendable:
        return _replaces(mendable[0], outdated)
    failed = [member for member in scene.members if member.trouble]
    if not failed:
        return None
    told = f"stopped with {len(outdated)} pods to go: {failed[0].trouble}; correct the spec, and it goes on by itself"
    return Verdict(True, reasons.ROLLOUT_STOPPED, told, trouble=f"the rolling change {told}")


def _unready(scene: Scene, outdated: Sequence[Member]) -> Verdict | None:
    unready = [member for member in scene.members if not member.is_ready]
    if not unready:
        return None
    [first, *others] = unready
    # Nobody loses anything by it when the only one that is not ready is the next to go.
    if not others and first in outdated and scene.primary not in (None, first.name):
        return _replaces(first, outdated)
    return _waits(reasons.ROLLING, f"waits until pod {first.name} is ready, {len(outdated)} more to go")


def _in_order(scene: Scene, outdated: Sequence[Member]) -> Verdict:
    if scene.primary is None and scene.has_choice:
        told = f"waits until the topology says which pod is the primary, {len(outdated)} more to go"
        return _waits(reasons.PRIMARY_UNKNOWN, told)
    return _replaces(_primary_last(outdated, scene.primary)[0], outdated)


def _primary_last(members: Sequence[Member], primary: str | None) -> list[Member]:
    return sorted(members, key=lambda member: member.name == primary)


def _replaces(member: Member, outdated: Sequence[Member]) -> Verdict:
    told = f"replaces pod {member.name}, {len(outdated) - 1} more to go"
    return Verdict(True, reasons.ROLLING, told, member)


def _waits(reason: str, message: str) -> Verdict:
    return Verdict(True, reason, message)


class Scale(NamedTuple):
    """How many servers a pool may have now; `reason` and `waiting` say why it is not yet what is asked for."""

    replicas: int
    reason: str = ""
    waiting: str = ""


def _has_heir(pool: Pool, scene: Scene) -> bool:
    """Even the only server may lead: others are asked for, and may have nothing yet of what it holds."""
    others = (each for each in scene.pools if each.may_lead and each.name != pool.name)
    return bool(pool.members) and any(each.wanted for each in others)


def scale(pool: Pool, scene: Scene) -> Scale:
    """Down by one at a time, from the top, and never past the primary while another one can take over."""
    now = pool.replicas
    if (
        now <= pool.wanted
        or not pool.may_lead
        or not any(each.wanted for each in scene.pools if each.may_lead)
    ):
        return Scale(pool.wanted)
    going = f"scaling {pool.name} down from {now} to {pool.wanted} waits"
    if scene.primary is None and (scene.has_choice or _has_heir(pool, scene)):
        told = f"{going} until the topology says which pod is the primary"
        return Scale(now, reasons.PRIMARY_UNKNOWN, told)
    if scene.primary == f"{pool.name}-{now - 1}":
        told = f"{going} until another pod has taken over: {scene.primary} is the primary, switch it to another one"
        return Scale(now, reasons.PRIMARY_WOULD_GO, told)
    leaving = [member.name for member in pool.members if member.ordinal >= now or member.is_leaving]
    if leaving:
        return Scale(now, reasons.SCALING_DOWN, f"{going} until pod {leaving[0]} is gone")
    left = now - 1
    return Scale(
        left,
        *(
            (reasons.SCALING_DOWN, f"{going} until pod {pool.name}-{left} is gone")
            if left > pool.wanted
            else ()
        ),
    )
