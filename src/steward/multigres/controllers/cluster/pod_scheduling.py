"""Ends the start of a cluster, for the start limit, when all of its pods are scheduled.

Until then the cluster waits in queues that it shares with all others: those of Kubernetes' controllers for workloads
and volumes, and that of the scheduler, which waits for the volumes. Afterwards it waits for its nodes, which pull
images and start Postgres, and for elections: clusters that start later hardly delay that.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import DEPLOYMENT, POD, STATEFUL_SET, Key, Kind
from steward.kube.objects.meta import HasMetadata
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.views import PodView
from steward.runtime.controller.start_limit import StartLimit

WORKLOADS = (DEPLOYMENT, STATEFUL_SET)
CHILD_KINDS = {
    CLUSTER: (TOPO_SERVER, CELL, TABLE_GROUP),
    CELL: (TOPO_SERVER,),
    TABLE_GROUP: (SHARD,),
}


class _Part(NamedTuple):
    """A custom resource of a cluster, or the cluster itself, and its workloads."""

    kind: Kind
    workloads: list[Any]

    @property
    def lacks_workload(self) -> bool:
        return not self.workloads and self.kind in (TOPO_SERVER, CELL, SHARD)


class PodScheduling:
    def __init__(self, store_of: Callable[[Kind], Store[Any]], starts: StartLimit) -> None:
        self._store_of = store_of
        self._starts = starts

    def observe_pod(self, change: ObjectChange[PodView]) -> None:
        if change.new is None or not _becomes_scheduled(change.old, change.new):
            return
        meta = change.new.metadata
        cluster = Key(meta.namespace, meta.labels.get(CLUSTER_LABEL, ""))
        if self._starts.is_started(cluster) and self.is_scheduled(cluster):
            self._starts.finish(cluster)

    def is_scheduled(self, cluster: Key) -> bool:
        """Whether all workloads of the cluster exist, and all of their pods have a node."""
        live = self._store_of(CLUSTER).get(cluster)
        parts = [] if live is None else [*self._parts(CLUSTER, live)]
        if not {CELL, SHARD} <= {part.kind for part in parts} or any(part.lacks_workload for part in parts):
            return False
        desired: int = sum(each.spec.replicas for part in parts for each in part.workloads)
        return self._scheduled_pods(cluster) >= desired

    def _parts(self, kind: Kind, live: HasMetadata) -> Iterator[_Part]:
        """The object and its descendants."""
        uid = live.metadata.uid
        yield _Part(kind, [each for workload in WORKLOADS for each in self._store_of(workload).by_owner(uid)])
        for child_kind in CHILD_KINDS.get(kind, ()):
            for child in self._store_of(child_kind).by_owner(uid):
                yield from self._parts(child_kind, child)

    def _scheduled_pods(self, cluster: Key) -> int:
        pods = self._store_of(POD).by_index(CLUSTER_LABEL, cluster.name)
        return sum(_is_scheduled(pod) for pod in pods if pod.metadata.namespace == cluster.namespace)


def _becomes_scheduled(old: PodView | None, new: PodView) -> bool:
    return _is_scheduled(new) and (old is None or not _is_scheduled(old))


def _is_scheduled(pod: PodView) -> bool:
    return any(each.type == "PodScheduled" and each.status == "True" for each in pod.status.conditions)
