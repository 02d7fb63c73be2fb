"""Stops the components of a cluster that hibernates, in order: the pods that still run decide about the next stage."""

from typing import Any

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.cluster.gateway_pods import is_deleted
from steward.multigres.controllers.common.child_triggers import PODS
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import gateway, orchestrator
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.resolution.hibernation import hibernate, hibernation_stage
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import ClusterView, PodView
from steward.runtime.controller.triggers import Watches

STAGED = frozenset({gateway.COMPONENT, orchestrator.COMPONENT})
"""Components whose last pod the next stage waits for."""


class Hibernation:
    def __init__(self, context: MultigresContext) -> None:
        self._rule = context.rules.pod
        self._pods = context.store(self._rule)
        self._pods.add_label_index(CLUSTER_LABEL)
        self._clusters = context.store(context.rules.cluster)

    def trigger(self) -> Watches[Any]:
        """The pod of a stage is gone. Its Deployment had no replicas long before, so nothing else changes then."""
        return Watches(self._rule, to=self._hibernating_cluster_of, when=is_deleted, debounce=PODS)

    def _hibernating_cluster_of(self, pod: PodView) -> list[Key]:
        labels = pod.metadata.labels
        if labels.get(COMPONENT_LABEL) not in STAGED:
            return []
        key = Key(pod.metadata.namespace, labels.get(CLUSTER_LABEL, ""))
        cluster = self._clusters.get(key)
        return [key] if cluster is not None and cluster.spec.get("hibernation") is True else []

    def apply(
        self, cluster: ClusterView, spec: MultigresClusterSpec, resolved: ResolvedCluster
    ) -> ResolvedCluster:
        if spec.hibernation is not True:
            return resolved
        namespace, name = key_of(cluster)
        pods = self._pods.by_index(CLUSTER_LABEL, name)
        running = [
            pod.metadata.labels.get(COMPONENT_LABEL, "")
            for pod in pods
            if pod.metadata.namespace == namespace
        ]
        return hibernate(resolved, hibernation_stage(running, gateway.COMPONENT, orchestrator.COMPONENT))
