"""Pods of multiadmin and its web page, whose problems the cluster itself reports."""

from steward.kube.objects.kinds import Key
from steward.multigres.objects import multiadmin
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.views import PodView


def admin_cluster_of(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    if labels.get(COMPONENT_LABEL) not in (multiadmin.COMPONENT, multiadmin.WEB_COMPONENT):
        return []
    return [Key(pod.metadata.namespace, labels.get(CLUSTER_LABEL, ""))]
