"""Where the control plane of a directory listens, without what it takes to start one: verbs ask for this every time."""

from __future__ import annotations

from pathlib import Path

from steward.local import state
from steward.local.errors import NotRunning
from steward.local.settings import Layout

API_SERVER = "kube-apiserver"


def port_in(directory: Path) -> int:
    """That of the API server which runs there."""
    layout = Layout(directory.absolute())
    port = state.read(layout.state).ports.get(API_SERVER)
    if port is None or not layout.service(API_SERVER).is_running():
        raise NotRunning(f"No control plane runs in {directory}: start it with `steward up --detach`.")
    return port


def kubeconfig_in(directory: Path) -> Path:
    """The kubeconfig of the control plane which runs there."""
    port_in(directory)
    return Layout(directory.absolute()).kubeconfig
