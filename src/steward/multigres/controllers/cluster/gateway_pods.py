"""Lets the Service of a cluster select gateways of an older version as long as there are any.

Pods of the newest version carry a mark that they accept clients, which the Service selects. While a cluster moves to
that version, pods without the mark still serve: they must not lose their clients.
"""

from typing import Any

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.kinds import Key, Manifest
from steward.kube.objects.meta import key_of
from steward.multigres.controllers.common.child_triggers import PODS
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.views import ClusterView, PodView
from steward.runtime.controller.triggers import Watches

UNMARKED = "unmarked gateways"


class GatewayPods:
    def __init__(self, context: MultigresContext) -> None:
        self._rule = context.rules.pod
        self._pods = context.store(self._rule)
        self._pods.add_index(UNMARKED, lambda pod: [str(key) for key in _cluster_of_unmarked(pod)])

    def trigger(self) -> Watches[Any]:
        """The last pod of the older version is gone."""
        return Watches(self._rule, to=_cluster_of_unmarked, when=is_deleted, debounce=PODS)

    def select(self, cluster: ClusterView, desired: list[Manifest]) -> list[Manifest]:
        if not self._pods.by_index(UNMARKED, str(key_of(cluster))):
            return desired
        name = cluster.metadata.name
        return [gateway.selecting_unmarked(manifest, name) for manifest in desired]


def _cluster_of_unmarked(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    is_old = gateway.is_unmarked(labels)
    return [Key(pod.metadata.namespace, labels.get(CLUSTER_LABEL, ""))] if is_old else []


def is_deleted(change: ObjectChange[PodView]) -> bool:
    return change.new is None
