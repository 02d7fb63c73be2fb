"""The configuration and the flags of a kubelet. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steward.certificates.authority import Subject
from steward.local.assembly import Assembly
from steward.local.bootstrap.objects import node_labels
from steward.local.certificates import Leaf, Pair, server_leaf
from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.names import KUBELET_ROOT
from steward.local.containers.nodes import Node, NodeFiles
from steward.local.settings import LOOPBACK

API_SERVER_CLIENT = "kubelet-client"  # the certificate with which the API server calls kubelets


def kubelet_leaves(node: Node) -> tuple[Leaf, ...]:
    """The node's user, and the certificate of the server that `kubectl logs` and `exec` reach."""
    user = Subject(f"system:node:{node.name}", ("system:nodes",))
    return Leaf(node.kubelet, user), server_leaf(f"{node.kubelet}-server", node.address)


def _server(assembly: Assembly, node: Node) -> Pair:
    return assembly.certificates.client(server_leaf(f"{node.kubelet}-server", node.address).name)


def kubelet_config(assembly: Assembly, containers: ContainerAssembly, node: Node) -> dict[str, Any]:
    files, server = NodeFiles(assembly.layout, node), _server(assembly, node)
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": node.address,
        "port": assembly.ports[node.kubelet],
        "readOnlyPort": 0,
        "healthzBindAddress": LOOPBACK,
        "healthzPort": assembly.ports[node.health_listener],
        "tlsCertFile": str(server.certificate),
        "tlsPrivateKeyFile": str(server.key),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(assembly.certificates.ca.certificate)},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{node.socket}",
        "clusterDNS": [containers.network.address],
        "clusterDomain": "cluster.local",
        "resolvConf": str(assembly.layout.config / "resolv.conf"),
        "podLogsDir": str(files.pod_logs),
        "volumePluginDir": str(files.directory / "volume-plugins"),
        **_resources(node),
    }


def _resources(node: Node) -> dict[str, Any]:
    return {
        "cgroupRoot": node.cgroup,
        "cgroupDriver": "cgroupfs",
        "failCgroupV1": False,
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "makeIPTablesUtilChains": False,  # kube-proxy makes the chains that are needed
        # The images of a machine without a registry cannot be pulled again.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi"},
        "maxPods": 110,
        "serializeImagePulls": False,
    }


def kubelet_flags(assembly: Assembly, node: Node, kubeconfig: Path) -> list[str]:
    files = NodeFiles(assembly.layout, node)
    labels = node_labels(node.zone, assembly.settings.region)
    return [
        f"--config={files.config / 'kubelet.yaml'}",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node.name}",
        f"--node-ip={node.address}",
        f"--node-labels={','.join(f'{name}={value}' for name, value in labels.items())}",
        f"--root-dir={KUBELET_ROOT}",
        f"--cert-dir={files.directory / 'certificates'}",
    ]
