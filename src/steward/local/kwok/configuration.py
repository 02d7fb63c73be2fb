"""What happens to nodes, pods and volumes on a cluster without kubelets: the stages that kwok plays.

Pods become ready at once, pods of a Job complete, deleted pods go, volumes are bound and grow. A test that wants
something else writes an annotation on the object, at any time: what a stage does depends only on what the object
says now, so a pod that is ready breaks when the annotation comes and heals when it goes. docs/local.md has the
table.
"""

from __future__ import annotations

from steward.local.kwok.dsl import Stage
from steward.local.kwok.nodes import node_stages
from steward.local.kwok.pods import pod_stages
from steward.local.kwok.volumes import volume_stages


def all_stages(kubelet_port: int) -> list[Stage]:
    return [*node_stages(kubelet_port), *pod_stages(), *volume_stages()]
