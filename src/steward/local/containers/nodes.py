"""The nodes of a cluster with containers, one in each zone, and where each keeps its files. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steward.local.containers.names import CGROUP, KUBELET_ROOT, PRIVATE_DIRECTORIES, RUN
from steward.local.containers.network import MAX_ZONES, AddressRange, PodNetwork
from steward.local.errors import MachineUnsuitable
from steward.local.settings import Layout


@dataclass(frozen=True)
class Node:
    name: str
    zone: str
    address: str
    pods: AddressRange

    @property
    def containerd(self) -> str:
        """The name of its containerd process."""
        return f"containerd-{self.name}"

    @property
    def kubelet(self) -> str:
        return f"kubelet-{self.name}"

    @property
    def health_listener(self) -> str:
        return f"{self.kubelet}-health"

    @property
    def cgroup(self) -> str:
        return f"/{CGROUP}/{self.name}"

    @property
    def run(self) -> Path:
        """What ends with the processes of the node."""
        return RUN / self.name

    @property
    def socket(self) -> Path:
        return self.run / "containerd.sock"

    @property
    def leases(self) -> Path:
        """Pod addresses in use; all containers end with `steward down`, so they are not kept longer."""
        return self.run / "addresses"


@dataclass(frozen=True)
class NodeFiles:
    """What a node keeps in the directory of its cluster."""

    layout: Layout
    node: Node

    @property
    def directory(self) -> Path:
        return self.layout.nodes / self.node.name

    @property
    def images(self) -> Path:
        """containerd's root: images and the file systems of containers."""
        return self.directory / "containerd"

    @property
    def kubelet(self) -> Path:
        """The kubelet's root, which it sees as KUBELET_ROOT."""
        return self.directory / "kubelet"

    @property
    def pod_logs(self) -> Path:
        return self.directory / "logs"

    @property
    def private(self) -> dict[Path, Path]:
        """The directories that stand for system directories in the mount namespace of the node."""
        temporary = {target: self.node.run / "private" / target.name for target in PRIVATE_DIRECTORIES}
        return temporary | {KUBELET_ROOT: self.kubelet}

    @property
    def config(self) -> Path:
        return self.layout.config / self.node.name


def plan_nodes(zones: tuple[str, ...], network: PodNetwork) -> tuple[Node, ...]:
    count = len(zones)
    if count > MAX_ZONES:
        raise MachineUnsuitable(
            f"--zones names {count} zones and a machine runs at most {MAX_ZONES} nodes: name fewer."
        )
    return tuple(
        Node(f"node-{index + 1}", zone, network.node_address(index), network.pod_range(index, count))
        for index, zone in enumerate(zones)
    )
