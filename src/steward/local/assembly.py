"""What the command lines and configuration files of all components depend on. Reads certificates, else pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from steward.local.certificates import Certificates
from steward.local.containers.assembly import ContainerAssembly
from steward.local.ports import Ports
from steward.local.settings import LOOPBACK, ControlPlaneSettings, Layout


@dataclass(frozen=True)
class Assembly:
    """Everything that command lines and configuration files depend on."""

    settings: ControlPlaneSettings
    layout: Layout
    certificates: Certificates
    ports: Ports
    binaries: Mapping[str, Path]
    containers: ContainerAssembly | None = None

    @property
    def address(self) -> str:
        """Of the API server: pods must reach it, and cannot reach loopback."""
        return LOOPBACK if self.containers is None else self.containers.network.address

    @property
    def url(self) -> str:
        return f"https://{self.address}:{self.ports['kube-apiserver']}"

    @property
    def etcd_url(self) -> str:
        return f"https://127.0.0.1:{self.ports['etcd']}"


def kubeconfig(assembly: Assembly, caller: str) -> str:
    """A kubeconfig with embedded certificates, so that the file can be copied elsewhere."""
    pair = assembly.certificates.client(caller)
    cluster = {
        "server": assembly.url,
        "certificate-authority-data": _base64(assembly.certificates.ca.certificate),
    }
    user = {
        "client-certificate-data": _base64(pair.certificate),
        "client-key-data": _base64(pair.key),
    }
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "steward", "cluster": cluster}],
            "users": [{"name": caller, "user": user}],
            "contexts": [{"name": "steward", "context": {"cluster": "steward", "user": caller}}],
            "current-context": "steward",
        },
        sort_keys=False,
    )


def kubeconfig_path(assembly: Assembly, caller: str) -> Path:
    return assembly.layout.config / f"{caller}.kubeconfig"


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
