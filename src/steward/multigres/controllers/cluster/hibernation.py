"""Stops the components of a cluster that hibernates, in order: the pods that still run decide about the next stage."""

from steward.kube.objects.meta import key_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import gateway, orchestrator
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.resolution.hibernation import hibernate, hibernation_stage
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import ClusterView


class Hibernation:
    def __init__(self, context: MultigresContext) -> None:
        self._pods = context.store(context.rules.pod)
        self._pods.add_label_index(CLUSTER_LABEL)

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
