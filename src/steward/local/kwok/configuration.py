"""All stages by which kwok simulates nodes, pods and volumes on a cluster without kubelets.

Pods become ready at once, pods of a Job complete, deleted pods are removed, volumes are bound and expanded. Annotations
on the object change this at any time: a stage depends only on the current object, so a ready pod fails when the
annotation is added and recovers when it is removed. docs/local.md lists the annotations.
"""

from __future__ import annotations

from steward.local.kwok.dsl import Stage
from steward.local.kwok.nodes import node_stages
from steward.local.kwok.pods import pod_stages
from steward.local.kwok.volumes import volume_stages


def all_stages(kubelet_port: int) -> list[Stage]:
    return [*node_stages(kubelet_port), *pod_stages(), *volume_stages()]
