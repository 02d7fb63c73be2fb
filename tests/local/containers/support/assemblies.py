"""An assembly with two nodes, without programs and processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steward.local import certificates
from steward.local.assembly import Assembly
from steward.local.containers import components
from steward.local.containers.assembly import ContainerAssembly, NodePrograms
from steward.local.containers.network import parse_pod_network
from steward.local.containers.nodes import plan_nodes
from steward.local.settings import ContainerSettings, ControlPlaneSettings, Layout, with_containers

ZONES = ("z1", "z2")
PROGRAMS = NodePrograms(
    containerd=Path("/packages/usr/bin/containerd"),
    ctr=Path("/packages/usr/bin/ctr"),
    runc=Path("/usr/sbin/runc"),
    plugins=Path("/packages/usr/lib/cni"),
    iptables=Path("/usr/sbin"),
)
BUILT = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "coredns",
)


@dataclass(frozen=True)
class TwoNodes:
    assembly: Assembly
    containers: ContainerAssembly


def container_assembly(subnet: str = "10.88.0.0/24") -> ContainerAssembly:
    network = parse_pod_network(subnet)
    return ContainerAssembly(network, plan_nodes(ZONES, network), PROGRAMS)


def two_nodes(directory: Path) -> TwoNodes:
    containers, layout = container_assembly(), Layout(directory)
    settings = with_containers(ControlPlaneSettings(directory), ContainerSettings(), ZONES)
    keys = certificates.ensure(layout.certificates)
    certificates.ensure_leaves(keys, components.leaves(containers))
    ports = {name: 20000 + index for index, name in enumerate(components.listeners(containers.nodes))}
    built = {name: Path(f"/bin/{name}") for name in BUILT}
    return TwoNodes(Assembly(settings, layout, keys, ports, built, containers), containers)
