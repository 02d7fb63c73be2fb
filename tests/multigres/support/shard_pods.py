"""Pods, pools and reported servers of a shard, for tests of the decisions about them."""

from collections.abc import Iterable, Mapping

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres.rollout.pods import REVISION, PoolState, ShardPods, members_of
from steward.multigres.servers.assessment import Server, ServerState, ShardServers
from steward.multigres.servers.durability import POLICIES, DurabilityPolicy
from steward.multigres.views import (
    ContainerState,
    ContainerStates,
    ContainerStatus,
    PodCondition,
    PodStatus,
    PodView,
    StatefulSetSpec,
    StatefulSetView,
    WorkloadStatus,
)

NOW = 1_000_000.0
OLD, NEW = "old", "new"
AT_LEAST_2, MULTI_CELL = POLICIES["AT_LEAST_2"], POLICIES["MULTI_CELL_AT_LEAST_2"]


def pod(
    name: str,
    revision: str = OLD,
    *,
    ready: bool = True,
    terminating: bool = False,
    since: float = NOW,
    stuck: str = "",
) -> PodView:
    condition = PodCondition("Ready", "True" if ready else "False", last_transition_time=to_timestamp(since))
    waiting = ContainerStates(waiting=ContainerState(stuck)) if stuck else ContainerStates()
    return PodView(
        ObjectMeta(
            name=name,
            uid=f"uid of {name}",
            labels={REVISION: revision},
            deletion_timestamp=to_timestamp(NOW) if terminating else None,
        ),
        PodStatus(conditions=(condition,), container_statuses=(ContainerStatus("postgres", state=waiting),)),
    )


def new_pods(pool_name: str, count: int) -> list[PodView]:
    return [pod(f"{pool_name}-{ordinal}", NEW) for ordinal in range(count)]


def stateful_set(name: str, replicas: int, *, is_observed: bool = True) -> StatefulSetView:
    status = WorkloadStatus(observed_generation=2 if is_observed else 1, update_revision=NEW)
    return StatefulSetView(ObjectMeta(name=name, generation=2), StatefulSetSpec(replicas), status)


def pool(name: str, *pods: PodView, desired: int | None = None, cell: str = "z1") -> PoolState:
    """A pool with as many replicas as pods."""
    live = stateful_set(name, len(pods))
    wanted = len(pods) if desired is None else desired
    return PoolState(name, cell, wanted, live, members_of(name, live, pods, NOW))


def removed_pool(name: str, *pods: PodView, cell: str = "z2") -> PoolState:
    return pool(name, *pods, desired=0, cell=cell)._replace(is_removed=True)


def shard(
    *pools: PoolState,
    primary: str | None = "a-0",
    states: Mapping[str, ServerState] | None = None,
    cohort: Iterable[str] | None = None,
    policy: DurabilityPolicy = AT_LEAST_2,
) -> ShardPods:
    """A shard whose servers are ready members of the cohort, except for `states` and `cohort`."""
    known = {
        name: Server(name, each.cell, (states or {}).get(name, ServerState.READY))
        for each in pools
        for name in {*each.server_names, *(member.name for member in each.members)}
    }
    members = frozenset(known) if cohort is None else frozenset(cohort)
    servers = ShardServers(
        tuple(known.values()), primary, primary is not None, members, policy, is_current=True
    )
    return ShardPods(pools, servers)


def knowing(pods: ShardPods, **changes: object) -> ShardPods:
    """The shard with other fields of its `ShardServers`."""
    return pods._replace(servers=pods.servers._replace(**changes))  # type: ignore[arg-type]
