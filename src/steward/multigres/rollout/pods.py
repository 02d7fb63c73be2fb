"""The Postgres servers of a shard as pods and as the data plane reports them. Pure.

A pod says which revision it runs and whether its containers run; only a report of the data plane says whether its
Postgres accepts connections or streams (`servers/assessment.py`). Decisions about servers need both.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres.rollout.volumes import ordinal_of
from steward.multigres.servers.assessment import Server, ServerState, ShardServers
from steward.multigres.servers.reports import ServerId
from steward.multigres.status.pod_problems import pod_problem
from steward.multigres.views import PodView, StatefulSetView

REVISION = "controller-revision-hash"
UNREADY_SECONDS = 60.0
"""A server that has been unready for this long is not expected to become ready without a change."""
DOWN_SECONDS = 20.0
"""The same for a Postgres that does not run in a ready pod: it is down for a moment when its pod starts, and when it
becomes a standby."""


class Member(NamedTuple):
    """One Postgres server of the shard; `problem` says why its pod is failing, "" if it is not."""

    name: str
    uid: str
    ordinal: int
    is_outdated: bool
    is_ready: bool
    is_terminating: bool
    problem: str = ""


class PoolState(NamedTuple):
    """One StatefulSet of the shard, desired and live. A pool that the spec no longer has is removed; its desired
    replicas are 0. `blocked_by` names what must be gone before its servers may leave."""

    name: str
    cell: str
    desired_replicas: int
    live: StatefulSetView | None
    members: tuple[Member, ...] = ()
    is_removed: bool = False
    blocked_by: str = ""

    @property
    def is_observed(self) -> bool:
        """Whether the StatefulSet controller has observed the latest change, so that its newest revision is known."""
        live = self.live
        return live is not None and live.status.observed_generation >= live.metadata.generation

    @property
    def replicas(self) -> int:
        """The replicas of the set; while there is no set, the number that its existing pods imply."""
        if self.live is not None:
            return self.live.spec.replicas
        return max((member.ordinal + 1 for member in self.members if not member.is_terminating), default=0)

    @property
    def is_shrinking(self) -> bool:
        return self.replicas > self.desired_replicas

    @property
    def missing(self) -> list[str]:
        """Servers that have no pod. A removed pool without a set gets none."""
        if self.is_removed and self.live is None:
            return []
        existing = {member.ordinal for member in self.members}
        return [f"{self.name}-{ordinal}" for ordinal in range(self.replicas) if ordinal not in existing]

    @property
    def server_names(self) -> list[str]:
        """Servers that exist or are about to be created, without those that are leaving already."""
        if self.is_removed and self.live is None:
            return [member.name for member in self.members if not member.is_terminating]
        return [f"{self.name}-{ordinal}" for ordinal in range(max(self.replicas, self.desired_replicas))]

    @property
    def surplus(self) -> list[str]:
        """Servers that are to leave, in the order in which they can: a set removes its highest ordinal first."""
        if self.is_removed and self.live is None:
            return [member.name for member in sorted(self.members, key=lambda member: -member.ordinal)]
        return [f"{self.name}-{ordinal}" for ordinal in reversed(range(self.desired_replicas, self.replicas))]


class ShardPods(NamedTuple):
    """The live pods of a shard, and what the data plane reports about their servers. `broken` are the servers whose
    Postgres has been down for so long that it is not about to start; `is_long_unknown` is false while the state of
    servers is unknown for a moment only, as after each restart."""

    pools: tuple[PoolState, ...]
    servers: ShardServers
    broken: frozenset[str] = frozenset()
    is_long_unknown: bool = True

    @property
    def members(self) -> list[Member]:
        """Servers in the order in which they are replaced: the highest ordinal of each pool first."""
        return [member for pool in sorted(self.pools) for member in _by_ordinal(pool)]

    @property
    def staying_members(self) -> list[Member]:
        """The same without the servers of removed pools."""
        return [member for pool in sorted(self.pools) if not pool.is_removed for member in _by_ordinal(pool)]

    @property
    def primary(self) -> str | None:
        return self.servers.primary

    @property
    def away(self) -> list[str]:
        """Servers whose pods are terminating or do not exist."""
        terminating = [member.name for member in self.members if member.is_terminating]
        return [*terminating, *(name for pool in sorted(self.pools) for name in pool.missing)]

    @property
    def server_ids(self) -> dict[str, ServerId]:
        """Servers that exist or are about to be created, without those that are leaving already."""
        return {name: ServerId(pool.cell, name) for pool in self.pools for name in pool.server_names}

    @property
    def surplus(self) -> frozenset[str]:
        """All servers that are to leave."""
        return frozenset(name for pool in self.pools for name in pool.surplus)

    def state(self, name: str) -> ServerState:
        server = self.servers.get(name)
        return ServerState.UNKNOWN if server is None else server.state

    def server(self, name: str) -> Server:
        return self.servers.get(name) or Server(name, "", ServerState.UNKNOWN)

    def is_broken(self, member: Member) -> bool:
        """Whether its pod fails, or its Postgres is known to be down."""
        return bool(self.problem(member))

    def problem(self, member: Member) -> str:
        """Why a server serves nothing and will not without a change; "" if it does or may."""
        if member.problem:
            return member.problem
        if member.name not in self.broken:
            return ""
        server = self.server(member.name)
        return f"Postgres of {member.name} is {server.state.lower()}{_detail(server)}"


def _detail(server: Server) -> str:
    return f": {server.detail}" if server.detail else ""


def _by_ordinal(pool: PoolState) -> list[Member]:
    return sorted(pool.members, key=lambda member: -member.ordinal)


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


def unsettled(pods: ShardPods, names: Iterable[str]) -> Iterator[Server]:
    """The servers among `names` whose Postgres is not ready, or does not stream."""
    return (server for name in names if (server := pods.server(name)).state is not ServerState.READY)
