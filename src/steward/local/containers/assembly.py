"""What the command lines of a cluster with containers depend on, beyond those of the control plane. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steward.local.containers.network import PodNetwork
from steward.local.containers.nodes import Node
from steward.local.images.archives import ImageArchive


@dataclass(frozen=True)
class NodePrograms:
    """Programs that are not built from source: installed on this machine, or unpacked from packages."""

    containerd: Path
    ctr: Path
    runc: Path
    plugins: Path  # the directory of the network plugins
    iptables: Path  # the directory that holds iptables, iptables-save and iptables-restore

    @property
    def search_path(self) -> tuple[Path, ...]:
        """Directories that precede PATH: containerd looks there for its shim, kube-proxy for iptables."""
        return tuple(dict.fromkeys((self.containerd.parent, self.runc.parent, self.iptables)))


@dataclass(frozen=True)
class ContainerAssembly:
    network: PodNetwork
    nodes: tuple[Node, ...]
    programs: NodePrograms
    user_images: tuple[ImageArchive, ...] = ()
