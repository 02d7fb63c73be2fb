"""Finds the running control plane of a directory. Every verb imports this: it must not import what starts one."""

from __future__ import annotations

from pathlib import Path

from steward.local import state
from steward.local.errors import NotRunning
from steward.local.settings import Layout

API_SERVER = "kube-apiserver"


def running_api_server_port(directory: Path) -> int:
    """The port of the API server that runs in `directory`."""
    layout = Layout(directory.absolute())
    port = state.read(layout.state).ports.get(API_SERVER)
    if port is None or not layout.service(API_SERVER).is_running():
        raise NotRunning(f"No control plane runs in {directory}: start it with `steward up --detach`.")
    return port


def running_kubeconfig(directory: Path) -> Path:
    """The kubeconfig of the control plane that runs in `directory`."""
    running_api_server_port(directory)
    return Layout(directory.absolute()).kubeconfig
