"""Collects the servers of a shard: pools, pods, and what the data plane reports about them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.kinds import Key, Manifest
from steward.kube.objects.meta import key_of
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.primaries import FRESH_SECONDS
from steward.multigres.controllers.shard.ownerless_servers import UndesiredPool
from steward.multigres.deletion.draining import delete_ownerless_pod, is_within_grace
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.rollout.pods import DOWN_SECONDS, PoolState, ShardPods, is_ready, members_of
from steward.multigres.rollout.switching import switch_spacing
from steward.multigres.rollout.volumes import stateful_sets_in
from steward.multigres.servers.assessment import (
    BROKEN,
    ServerPod,
    ServerState,
    ShardServers,
    assess_servers,
)
from steward.multigres.servers.grace import GRACE_SECONDS
from steward.multigres.views import PodView, ShardView, StatefulSetView
from steward.runtime.plan.steps import Plan

GATEWAY_LABELS = (COMPONENT_LABEL, CLUSTER_LABEL, CELL_LABEL)
REFRESH_SECONDS = 2.0
"""The age at which another one is requested while servers are restarted or removed."""


class RemovedPools(NamedTuple):
    """Pools that the spec no longer has: their sets, and the pods of those whose set is gone."""

    sets: Sequence[StatefulSetView] = ()
    ownerless: Sequence[UndesiredPool] = ()

    def delete_steps(self, name: str) -> Plan:
        """Deletes the pod of this name, which no controller manages."""
        pods = (pod for pool in self.ownerless for pod in pool.pods if pod.metadata.name == name)
        return tuple(delete_ownerless_pod(pod) for pod in pods if pod.metadata.deletion_timestamp is None)


class _PodSnapshot(NamedTuple):
    """Identity and readiness of a shard's pods, and since when they have been unchanged."""

    pods: frozenset[object]
    since: float


class ServerPods:
    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.sets = context.store(context.rules.stateful_set)
        self.cells = context.store(context.rules.cell)
        self.deployments = context.store(context.rules.deployment)
        self.pods = context.store(context.rules.pod)
        self._snapshots: dict[Key, _PodSnapshot] = {}
        self._down_since: dict[Key, dict[str, float]] = {}

    def forget(self, shard: Key) -> None:
        self._snapshots.pop(shard, None)
        self._down_since.pop(shard, None)

    def request_check(self, shard: Key, pods: Sequence[PodView]) -> None:
        """Asks for an observation that is younger than the last change of the pods, and stays young."""
        recently = self.context.clock.monotonic() - REFRESH_SECONDS
        self.context.servers.request_check(shard, max(self._unchanged_since(shard, pods), recently))

    def collect(
        self, shard: ShardView, desired: Sequence[Manifest], pods: Sequence[PodView], removed: RemovedPools
    ) -> ShardPods:
        pools = (*self._desired_pools(desired, pods), *self._removed_pools(shard, removed, pods))
        servers = self._assess(shard, pools, pods)
        key = key_of(shard)
        return ShardPods(pools, servers, self._broken(key, servers), self._is_long_unknown(key, servers))

    def _desired_pools(self, desired: Sequence[Manifest], pods: Sequence[PodView]) -> Iterator[PoolState]:
        now = self.context.clock.now()
        for manifest in stateful_sets_in(desired):
            meta = manifest["metadata"]
            name, live = meta["name"], self.sets.get(Key(meta["namespace"], meta["name"]))
            cell = meta["labels"].get(CELL_LABEL, "")
            members = members_of(name, live, pods, now)
            yield PoolState(name, cell, manifest["spec"]["replicas"], live, members)

    def _removed_pools(
        self, shard: ShardView, removed: RemovedPools, pods: Sequence[PodView]
    ) -> Iterator[PoolState]:
        now = self.context.clock.now()
        sets = [(live.metadata.name, _cell(live), live, pods) for live in removed.sets]
        without_set = [(ref.key.name, _cell(found[0]), None, found) for ref, found in removed.ownerless]
        for name, cell, live, candidates in (*sets, *without_set):
            # A set that is no longer desired has no newest revision that its pods should run.
            members = tuple(
                member._replace(is_outdated=False) for member in members_of(name, live, candidates, now)
            )
            blocked_by = self.blocking_gateways(shard, cell)
            yield PoolState(name, cell, 0, live, members, is_removed=True, blocked_by=blocked_by)

    def blocking_gateways(self, shard: ShardView, cell: str) -> str:
        """The gateways of a cell that is terminating; "" if they are gone or the cell stays.

        Their pods count as well: a gateway that ends still has clients, and a write that it holds while the primary is
        switched would end with it.
        """
        namespace, cluster = shard.metadata.namespace, shard.metadata.labels.get(CLUSTER_LABEL, "")
        live = self.cells.get(Key(namespace, names.cell(cluster, cell)))
        if live is not None and live.metadata.deletion_timestamp is None:
            return ""
        name = names.gateway(cluster, cell)
        if self.deployments.get(Key(namespace, name)) is not None:
            return name
        return name if self._has_gateway_pods(namespace, cluster, cell) else ""

    def _has_gateway_pods(self, namespace: str, cluster: str, cell: str) -> bool:
        wanted, now = (gateway.COMPONENT, cluster, cell), self.context.clock.now()
        return any(
            tuple(map(pod.metadata.labels.get, GATEWAY_LABELS)) == wanted and is_within_grace(pod, now)
            for pod in self.pods.list(namespace)
        )

    def switch_spacing(self, shard: ShardView) -> float:
        namespace, cluster = shard.metadata.namespace, shard.metadata.labels.get(CLUSTER_LABEL, "")
        cells = (
            cell for cell in self.cells.list(namespace) if cell.metadata.labels.get(CLUSTER_LABEL) == cluster
        )
        return switch_spacing(cell.spec for cell in cells)

    def _assess(self, shard: ShardView, pools: Sequence[PoolState], pods: Sequence[PodView]) -> ShardServers:
        key, now = key_of(shard), self.context.clock.monotonic()
        since = max(self._unchanged_since(key, pods), now - FRESH_SECONDS)
        policy = or_default(shard.spec.durability_policy, "")
        return assess_servers(list(_server_pods(pools)), self.context.servers.get(key), policy, since)

    def _broken(self, shard: Key, servers: ShardServers) -> frozenset[str]:
        """Servers whose Postgres has been down in all observations for a while."""
        now, known = self.context.clock.monotonic(), self._down_since.get(shard, {})
        down = [server.name for server in servers.servers if server.state in BROKEN]
        since = {name: known.get(name, now) for name in down}
        self._down_since[shard] = since
        if not servers.is_current:
            return frozenset()
        return frozenset(name for name, at in since.items() if now - at >= DOWN_SECONDS)

    def _is_long_unknown(self, shard: Key, servers: ShardServers) -> bool:
        unknown = (each.name for each in servers.servers if each.state is ServerState.UNKNOWN)
        return any(self.context.servers.unknown_seconds(shard, name) >= GRACE_SECONDS for name in unknown)

    def _unchanged_since(self, shard: Key, pods: Iterable[PodView]) -> float:
        now = self.context.clock.monotonic()
        current = frozenset(
            (pod.metadata.uid, is_ready(pod), pod.metadata.deletion_timestamp is None) for pod in pods
        )
        last = self._snapshots.get(shard)
        if last is None or last.pods != current:
            last = self._snapshots[shard] = _PodSnapshot(current, now)
        return last.since


def _server_pods(pools: Iterable[PoolState]) -> Iterator[ServerPod]:
    """Every existing pod, and every server that should have one."""
    for pool in pools:
        surplus = frozenset(pool.surplus)
        for member in pool.members:
            is_desired = not pool.is_removed and member.name not in surplus
            pod = ServerPod(member.name, pool.cell, pool.name, is_desired)
            yield pod._replace(is_ready=member.is_ready, is_terminating=member.is_terminating)
        for name in set(pool.server_names) - {member.name for member in pool.members}:
            yield ServerPod(name, pool.cell, pool.name, name not in surplus, exists=False)


def _cell(live: Any) -> str:
    return str(live.metadata.labels.get(CELL_LABEL, ""))
