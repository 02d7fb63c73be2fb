"""The settings of a local control plane, and the layout of its directory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from steward.local.processes import Lifetime, Service

# In the order in which they start. They stop in the reverse order, so that etcd ends last: an API server that loses
# its etcd while it stops hangs and keeps a core busy.
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")

# The same in the mode with containers; containerd and the kubelets have the name of their node after a hyphen.
SHARED_COMPONENTS = COMPONENTS[:-1]
PER_NODE_COMPONENTS = ("containerd", "kubelet")
CLUSTER_COMPONENTS = ("kube-proxy", "coredns", "volume-provisioner")

# Processes on top of the control plane, in the order in which they start. `steward up --bare` starts none of them.
DATA_PLANE = "data-plane"
OPERATOR_SERVICES = (DATA_PLANE, "multigres-operator", "tenant-operator")
PAGE = "page"

MAX_NODES = 512

LOOPBACK = "127.0.0.1"
DEFAULT_POD_SUBNET = "10.88.0.0/24"
DEFAULT_CONTAINER_ZONES = ("z1",)  # each node is a kubelet with a containerd of its own


@dataclass(frozen=True)
class Topology:
    nodes: int = 3
    zones: tuple[str, ...] = ("z1", "z2", "z3")


@dataclass(frozen=True)
class ContainerSettings:
    """Pods run in containers, one node in each zone; without these settings kwok simulates nodes and pods."""

    pod_subnet: str = DEFAULT_POD_SUBNET
    images: Path | None = None  # a directory of image archives, in addition to those that Steward makes


@dataclass(frozen=True)
class ControlPlaneSettings:
    directory: Path
    nodes: int = Topology.nodes
    zones: tuple[str, ...] = Topology.zones
    region: str = "local"
    port: int | None = None  # of the API server; None chooses a free one
    audit_level: str = "Metadata"  # of the audit log: None, Metadata, Request or RequestResponse
    lifetime: Lifetime = Lifetime.OWN
    admission_plugins: tuple[str, ...] = ()  # in addition to those that are on by default
    disabled_controllers: tuple[str, ...] = ()  # of kube-controller-manager
    api_server_flags: tuple[str, ...] = ()  # in addition to those that Steward needs
    containers: ContainerSettings | None = None


def with_containers(
    settings: ControlPlaneSettings, containers: ContainerSettings, zones: tuple[str, ...]
) -> ControlPlaneSettings:
    """The same settings with containers instead of kwok, and one node in each zone."""
    different = tuple(dict.fromkeys(zones))
    return replace(settings, containers=containers, zones=different, nodes=len(different))


@dataclass(frozen=True)
class Layout:
    """The files of one control plane, all under its directory."""

    directory: Path

    @property
    def kubeconfig(self) -> Path:
        return self.directory / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self.directory / "audit.log"

    @property
    def state(self) -> Path:
        return self.directory / "state.json"

    @property
    def lock(self) -> Path:
        return self.directory / "lock"

    @property
    def data(self) -> Path:
        return self.directory / "etcd"

    @property
    def certificates(self) -> Path:
        return self.directory / "certificates"

    @property
    def config(self) -> Path:
        return self.directory / "config"

    @property
    def processes(self) -> Path:
        return self.directory / "processes"

    @property
    def operators(self) -> Path:
        """The operators' kubeconfigs, certificates and ports, and the fake data plane's files."""
        return self.directory / "operators"

    @property
    def sample(self) -> Path:
        return self.directory / "sample"

    @property
    def nodes(self) -> Path:
        """With containers: images, containers and pod directories of each node."""
        return self.directory / "nodes"

    @property
    def volumes(self) -> Path:
        return self.directory / "volumes"

    @property
    def machine_record(self) -> Path:
        """With containers: what was made and changed on the machine, outside of this directory."""
        return self.directory / "machine.json"

    def owned_paths(self) -> list[Path]:
        """All files and directories that Steward writes here."""
        logs = self.directory.glob("audit*.log")
        return [
            self.kubeconfig,
            self.state,
            self.lock,
            self.data,
            self.certificates,
            self.config,
            self.processes,
            self.operators,
            self.sample,
            self.nodes,
            self.volumes,
            self.machine_record,
            *logs,
        ]

    def service(self, component: str) -> Service:
        return Service(component, self.processes)

    def component_services(self) -> list[Service]:
        return [self.service(component) for component in COMPONENTS]

    def node_services(self) -> list[Service]:
        """With containers: what was started for the nodes, by the pid files; the number of nodes may have changed."""
        stems = (*(f"{name}-*" for name in PER_NODE_COMPONENTS), *CLUSTER_COMPONENTS)
        found = [path.stem for stem in stems for path in sorted(self.processes.glob(f"{stem}.pid"))]
        return [self.service(name) for name in found]

    def operator_services(self) -> list[Service]:
        return [self.service(resident) for resident in OPERATOR_SERVICES]

    def page_service(self) -> Service:
        """Not one of `all_services`: the cluster goes on without it."""
        return self.service(PAGE)

    @property
    def page_url(self) -> Path:
        """The one-time URL of the page."""
        return self.processes / "page.url"

    def all_services(self) -> list[Service]:
        """Components and operators, in the order in which they start."""
        return [*self.component_services(), *self.node_services(), *self.operator_services()]
