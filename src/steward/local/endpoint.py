"""Finds the running control plane of a directory. Every verb imports this: it must not import what starts one."""

from __future__ import annotations

from pathlib import Path

from steward.local import state
from steward.local.errors import NotRunning
from steward.local.settings import Layout

API_SERVER = "kube-apiserver"


def running_api_server_url(directory: Path) -> str:
    """The URL of the API server that runs in `directory`."""
    layout = Layout(directory.absolute())
    known = state.read(layout.state)
    port = known.ports.get(API_SERVER)
    if port is None or not layout.service(API_SERVER).is_running():
        raise NotRunning(f"No control plane runs in {directory}: start it with `steward up --detach`.")
    return f"https://{known.address}:{port}"


def running_kubeconfig(directory: Path) -> Path:
    """The kubeconfig of the control plane that runs in `directory`."""
    running_api_server_url(directory)
    return Layout(directory.absolute()).kubeconfig
