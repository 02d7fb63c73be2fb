"""Stages of nodes: ready at once, and not ready while annotated with `steward.local/node: not-ready`.

The API server calls kwok in place of a kubelet; kwok's port may change with every start of the cluster.
"""

from __future__ import annotations

from steward.local.kwok.dsl import (
    READY_STATUS,
    Stage,
    Step,
    annotated,
    is_not,
    is_one_of,
    not_annotated,
    stage,
    status_patch,
)

NODE_ANNOTATION = "steward.local/node"
_PORT = ".status.daemonEndpoints.kubeletEndpoint.Port | tostring"


def node_stages(kubelet_port: int) -> list[Stage]:
    port = status_patch(f"daemonEndpoints: {{kubeletEndpoint: {{Port: {kubelet_port}}}}}")
    return [
        stage("node-reached", "Node", [is_not(_PORT, str(kubelet_port))], [port]),
        stage(
            "node-ready",
            "Node",
            [is_not(READY_STATUS, "True"), not_annotated(NODE_ANNOTATION)],
            [_ready_step()],
        ),
        stage(
            "node-not-ready",
            "Node",
            [is_one_of(READY_STATUS, "True"), annotated(NODE_ANNOTATION, "not-ready")],
            [_not_ready_step()],
        ),
    ]


def _ready_step() -> Step:
    return status_patch("""
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ .metadata.name | Quote }}}
capacity: &capacity {cpu: 1k, memory: 4Ti, ephemeral-storage: 16Ti, pods: 10k}
allocatable: *capacity
nodeInfo:
  architecture: {{ index .metadata.labels "kubernetes.io/arch" | Quote }}
  operatingSystem: linux
  kubeletVersion: kwok-{{ Version }}
  kubeProxyVersion: kwok-{{ Version }}
  containerRuntimeVersion: kwok-{{ Version }}
  kernelVersion: ""
  osImage: ""
  bootID: ""
  machineID: ""
  systemUUID: ""
""")


def _not_ready_step() -> Step:
    return status_patch("""
conditions:
- type: Ready
  status: Unknown
  reason: NodeStatusUnknown
  message: Kubelet stopped posting node status.
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ Now | Quote }}
""")
