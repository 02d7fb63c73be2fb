"""Paused clusters: no controller writes anything but statuses and events for them.

One gate in front of the executor replaces a check in each controller, which a new step could forget. The controllers
that write without a plan (certificates, records, switches of a primary) ask `PausedClusters` themselves.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.status.pause import is_paused
from steward.multigres.views import ClusterView
from steward.runtime.controller.predicates import selected_fields
from steward.runtime.controller.triggers import Watches
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Emit, Hold, Plan, Requeue, Status

CHILD_KINDS = frozenset({CELL, SHARD, TABLE_GROUP, TOPO_SERVER})
ALLOWED_STEPS = (Status, Emit, Hold, Requeue)

StoreOf = Callable[[Kind], Store[Any] | None]


class Executor(Protocol):
    async def execute(self, plan: Plan, cause: Ref) -> PlanResult: ...


class PausedClusters:
    def __init__(self, store_of: StoreOf) -> None:
        self._store_of = store_of

    def includes(self, ref: Ref) -> bool:
        """Whether the object is a paused cluster, or belongs to one by its label."""
        clusters, cluster = self._store_of(CLUSTER), self._cluster_key(ref)
        live = None if clusters is None or cluster is None else clusters.get(cluster)
        return live is not None and is_paused(live)

    def _cluster_key(self, ref: Ref) -> Key | None:
        if ref.kind == CLUSTER:
            return ref.key
        store = self._store_of(ref.kind)
        live: HasMetadata | None = None if store is None else store.get(ref.key)
        return None if live is None else Key(ref.key.namespace, live.metadata.labels.get(CLUSTER_LABEL, ""))


class PausableExecutor:
    """Leaves out every step that changes more than a status if its cause belongs to a paused cluster."""

    def __init__(self, executor: Executor, paused: PausedClusters) -> None:
        self._executor = executor
        self._paused = paused

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        if plan and self._paused.includes(cause):
            plan = tuple(step for step in plan if isinstance(step, ALLOWED_STEPS))
        return await self._executor.execute(plan, cause)


def pause_trigger(rule: CacheRule[ClusterView], children: Store[Any]) -> Watches[ClusterView]:
    """Reconciles the children of a cluster when it is paused and when that ends."""

    def children_of(cluster: ClusterView) -> Iterable[Key]:
        meta = cluster.metadata
        return [
            key_of(child)
            for child in children.list(meta.namespace)
            if child.metadata.labels.get(CLUSTER_LABEL) == meta.name
        ]

    return Watches(rule, to=children_of, when=selected_fields(is_paused))
