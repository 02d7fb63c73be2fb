"""Command lines, files and certificates of everything that a cluster with containers adds to the control plane."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from steward.certificates.authority import Subject
from steward.local.assembly import Assembly, kubeconfig, kubeconfig_path
from steward.local.certificates import Leaf, server_leaf
from steward.local.containers import containerd, dns, kubelet, proxy
from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.namespaces import in_mount_namespace, in_namespace_of
from steward.local.containers.nodes import Node, NodeFiles
from steward.local.containers.programs import SYSTEM_PATH
from steward.local.ports import LISTENERS

_CALLERS = ("kube-proxy", "coredns")


def listeners(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """The names of all ports on loopback, kubelets' own ports included."""
    kubelets = (name for node in nodes for name in (node.kubelet, node.health_listener))
    return (*LISTENERS[:-1], proxy.HEALTH, proxy.METRICS, *kubelets)


def leaves(containers: ContainerAssembly) -> list[Leaf]:
    administrators = ("system:masters",)
    return [
        server_leaf("kube-apiserver", containers.network.address),
        Leaf(kubelet.API_SERVER_CLIENT, Subject("kube-apiserver-kubelet-client", administrators)),
        Leaf("kube-proxy", Subject(proxy.USER)),
        Leaf("coredns", Subject("coredns", administrators)),
        *(leaf for node in containers.nodes for leaf in kubelet.kubelet_leaves(node)),
    ]


def commands(assembly: Assembly, containers: ContainerAssembly) -> dict[str, list[str]]:
    """Command lines by process, in the order in which they start."""
    config = assembly.layout.config
    proxy_flags = [f"--config={config / 'kube-proxy.yaml'}"]
    return (
        {
            node.containerd: _containerd(containers, NodeFiles(assembly.layout, node))
            for node in containers.nodes
        }
        | {node.kubelet: _kubelet(assembly, containers, node) for node in containers.nodes}
        | {
            "kube-proxy": [*_environment(containers), str(assembly.binaries["kube-proxy"]), *proxy_flags],
            "coredns": [str(assembly.binaries["coredns"]), f"-conf={config / 'Corefile'}"],
            "volume-provisioner": _provisioner(assembly, containers),
        }
    )


def _containerd(containers: ContainerAssembly, files: NodeFiles) -> list[str]:
    command = [str(containers.programs.containerd), "--config", str(files.config / "containerd.toml")]
    return [*in_mount_namespace(files.private), *_environment(containers), *command]


def _kubelet(assembly: Assembly, containers: ContainerAssembly, node: Node) -> list[str]:
    """In the mount namespace of its containerd, which must see the volumes that the kubelet mounts."""
    flags = kubelet.kubelet_flags(assembly, node, kubeconfig_path(assembly, node.kubelet))
    command = [str(assembly.binaries["kubelet"]), *flags]
    runtime = assembly.layout.service(node.containerd)
    return [*in_namespace_of(runtime), *_environment(containers), *command]


def _environment(containers: ContainerAssembly) -> list[str]:
    """A fixed PATH: the user's may differ from one start to the next, which would restart the processes."""
    directories = map(str, containers.programs.search_path)
    return ["/usr/bin/env", f"PATH={':'.join((*directories, SYSTEM_PATH))}"]


def _provisioner(assembly: Assembly, containers: ContainerAssembly) -> list[str]:
    where = ["--kubeconfig", str(assembly.layout.kubeconfig), "--directory", str(assembly.layout.volumes)]
    nodes = [part for node in containers.nodes for part in ("--node", f"{node.name}={node.zone}")]
    return [sys.executable, "-m", "steward.local.provisioner", *where, *nodes]


def files(assembly: Assembly, containers: ContainerAssembly) -> dict[Path, str]:
    config, address = assembly.layout.config, containers.network.address
    callers = (*_CALLERS, *(node.kubelet for node in containers.nodes))
    kubeconfigs = {kubeconfig_path(assembly, name): kubeconfig(assembly, name) for name in callers}
    proxy_config = proxy.proxy_config(containers, assembly.ports, kubeconfig_path(assembly, "kube-proxy"))
    shared = {
        config / "kube-proxy.yaml": yaml.safe_dump(proxy_config, sort_keys=False),
        config / "Corefile": dns.corefile(address, kubeconfig_path(assembly, "coredns")),
        config / "resolv.conf": dns.pod_resolver(address),
        config / "resolv-processes.conf": dns.process_resolver(address),
        config / "nsswitch.conf": dns.NAME_SERVICES,
    }
    of_nodes = [_node_files(assembly, containers, node) for node in containers.nodes]
    return kubeconfigs | shared | {path: text for each in of_nodes for path, text in each.items()}


def _node_files(assembly: Assembly, containers: ContainerAssembly, node: Node) -> dict[Path, str]:
    places = NodeFiles(assembly.layout, node)
    config = kubelet.kubelet_config(assembly, containers, node)
    return containerd.containerd_files(containers, places) | {
        places.config / "kubelet.yaml": yaml.safe_dump(config, sort_keys=False)
    }
