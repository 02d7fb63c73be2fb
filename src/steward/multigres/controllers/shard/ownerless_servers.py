"""Finds pods and volume claims of a Shard that have no owner.

The operator recreates a StatefulSet whose immutable fields change: for a moment its pods and claims have no owner. If
the Shard, or the pool, is removed in this moment, the garbage collector never deletes them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.kinds import DEPLOYMENT, POD, STATEFUL_SET, Key, Kind, Ref
from steward.kube.objects.meta import HasMetadata
from steward.multigres import names
from steward.multigres.api.compute import Pool
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.deletion.draining import delete_ownerless_pod
from steward.multigres.deletion.ownerless_claims import SetVolumes, claim_deletions
from steward.multigres.deletion.ownerless_objects import (
    has_generated_name,
    is_ownerless,
    is_ownerless_part,
)
from steward.multigres.names import ShardPath
from steward.multigres.objects import pool
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.views import PodView, ShardView
from steward.runtime.plan.steps import Plan

SHARD_PATH_LABELS = (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)


class UndesiredPool(NamedTuple):
    """Servers without a controller, and the set that they belonged to."""

    ref: Ref
    pods: Sequence[PodView]

    def delete_steps(self) -> Plan:
        living = (pod for pod in self.pods if pod.metadata.deletion_timestamp is None)
        return tuple(delete_ownerless_pod(pod) for pod in living)


class OwnerlessServers:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self._clusters = context.store(rules.cluster)
        self._groups = context.store(rules.table_group)
        self._deployments = context.store(rules.deployment)
        self._sets = context.store(rules.stateful_set)
        self._claims = context.store(rules.claim)

    def pods(self, shard: ShardView, pods: Iterable[PodView], component: str) -> list[PodView]:
        """Pods of a component that end with the Shard. A Shard that is still desired is created again and takes them
        over."""
        if self._is_desired(shard):
            return []
        return [pod for pod in ownerless_pods(pods) if pod.metadata.labels.get(COMPONENT_LABEL) == component]

    def workloads(self, shard: ShardView, kind: Kind) -> list[Any]:
        """Deployments or StatefulSets that have no controller and end with the Shard, because its cluster does not
        desire it any more. Without a cluster nothing shows that they are not meant to stay."""
        path, namespace = shard_path(shard), shard.metadata.namespace
        if self._clusters.get(Key(namespace, path.cluster)) is None or self._is_desired(shard):
            return []
        store = self._deployments if kind == DEPLOYMENT else self._sets
        return [
            live
            for live in store.list(namespace)
            if shard_of(live) == shard.metadata.name and is_ownerless_part(kind, live.metadata, path.cluster)
        ]

    def undesired_pools(self, pods: Iterable[PodView], desired: Iterable[Ref]) -> list[UndesiredPool]:
        """Servers of pools that are no longer desired and whose set is gone: no controller removes them."""
        by_set: dict[Key, list[PodView]] = {}
        for pod in ownerless_pods(pods):
            if pod.metadata.labels.get(COMPONENT_LABEL) == pool.COMPONENT:
                by_set.setdefault(_set_of(pod), []).append(pod)
        kept = {ref.key for ref in desired if ref.kind == STATEFUL_SET}
        return [
            UndesiredPool(Ref(STATEFUL_SET, key), found)
            for key, found in sorted(by_set.items())
            if key not in kept and self._sets.get(key) is None
        ]

    def claim_deletions(self, shard: ShardView, pods: Sequence[PodView]) -> Plan:
        """Deletes the claims of sets that are gone, where the policy says so."""
        namespace = shard.metadata.namespace
        sets = [each for each in _deleted_volumes(shard) if self._sets.get(Key(namespace, each.name)) is None]
        if not sets or self._is_desired(shard):
            return ()
        return claim_deletions(sets, self._claims.list(namespace), pods)

    def _is_desired(self, shard: ShardView) -> bool:
        path, namespace = shard_path(shard), shard.metadata.namespace
        cluster = self._clusters.get(Key(namespace, path.cluster))
        name = names.table_group(path.cluster, path.database, path.table_group)
        group = self._groups.get(Key(namespace, name))
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            return False
        if group is None or group.metadata.deletion_timestamp is not None:
            return False
        return any(each.name == path.shard for each in or_default(group.spec.shards, []))


def shard_of(live: HasMetadata) -> str:
    """The name of the Shard that an object belongs to, from its labels; "" if it belongs to none."""
    parts = [live.metadata.labels.get(label, "") for label in SHARD_PATH_LABELS]
    return names.shard(ShardPath(*parts)) if all(parts) else ""


def ownerless_pods(pods: Iterable[PodView]) -> list[PodView]:
    return [pod for pod in pods if is_ownerless(pod.metadata) and has_generated_name(POD, pod.metadata)]


def _set_of(pod: PodView) -> Key:
    return Key(pod.metadata.namespace, pod.metadata.name.rpartition("-")[0])


def _deleted_volumes(shard: ShardView) -> list[SetVolumes]:
    path = shard_path(shard)
    return [
        SetVolumes(names.pool(path, name, cell), pool.CLAIM, _replicas(spec))
        for name, spec in or_default(shard.spec.pools, {}).items()
        if or_default(spec.pvc_deletion_policy, RETAIN).when_deleted == "Delete"
        for cell in or_default(spec.cells, [])
    ]


def _replicas(spec: Pool) -> int:
    return or_default(spec.replicas_per_cell, defaults.POOL_REPLICAS)
