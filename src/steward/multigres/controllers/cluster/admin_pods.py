"""Pods of multiadmin and its web page, whose problems the cluster itself reports."""

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import multiadmin
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import ComponentStatus, Serving, workload_component
from steward.multigres.views import ClusterView, PodView

ADMIN_PODS = "admin"


def admin_cluster_of(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    if labels.get(COMPONENT_LABEL) not in (multiadmin.COMPONENT, multiadmin.WEB_COMPONENT):
        return []
    return [Key(pod.metadata.namespace, labels.get(CLUSTER_LABEL, ""))]


class AdminPods:
    def __init__(self, context: MultigresContext) -> None:
        self._context = context
        self._deployments = context.store(context.rules.deployment)
        self._pods = context.store(context.rules.pod)
        self._pods.add_index(ADMIN_PODS, lambda pod: [str(key) for key in admin_cluster_of(pod)])

    def components(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        """A cluster serves without them."""
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        pods = self._pods.by_index(ADMIN_PODS, str(Key(namespace, name)))
        problems = self._context.pod_problems.find(pods)
        specs = {
            names.multiadmin(name): resolved.multiadmin,
            names.multiadmin_web(name): resolved.multiadmin_web,
        }
        return [
            workload_component(
                deployment,
                or_default(spec.replicas, 1),
                self._deployments.get(Key(namespace, deployment)),
                problems,
            )._replace(serving=Serving.YES)
            for deployment, spec in specs.items()
        ]
