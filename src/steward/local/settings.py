"""The settings of a local control plane, and the layout of its directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steward.local.processes import Lifetime, Service

# In the order in which they start. They stop in the reverse order, so that etcd ends last: an API server that loses
# its etcd while it stops hangs and keeps a core busy.
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")

# Processes on top of the control plane, in the order in which they start. `steward up --bare` starts none of them.
DATA_PLANE = "data-plane"
OPERATOR_SERVICES = (DATA_PLANE, "multigres-operator", "tenant-operator")

MAX_NODES = 512


@dataclass(frozen=True)
class Topology:
    nodes: int = 3
    zones: tuple[str, ...] = ("z1", "z2", "z3")


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
            *logs,
        ]

    def service(self, component: str) -> Service:
        return Service(component, self.processes)

    def component_services(self) -> list[Service]:
        return [self.service(component) for component in COMPONENTS]

    def operator_services(self) -> list[Service]:
        return [self.service(resident) for resident in OPERATOR_SERVICES]

    def all_services(self) -> list[Service]:
        """Components and operators, in the order in which they start."""
        return [*self.component_services(), *self.operator_services()]
