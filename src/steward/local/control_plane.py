"""Starts and stops a real Kubernetes control plane in a directory.

`start` is level-triggered: whether nothing runs, a healthy control plane, a partly started one or one with a dead
component, the result is a healthy control plane with the given settings. A failed or interrupted start leaves no
process running. A lock serialises calls on one directory.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from steward.local import certificates, startup, state
from steward.local.containers import cluster
from steward.local.containers.cluster import NodeStart
from steward.local.endpoint import running_api_server_url
from steward.local.locks import exclusive
from steward.local.processes import Service
from steward.local.programs import binaries, disk
from steward.local.programs.disk import DiskRequirement
from steward.local.programs.programs import CONTROL_PLANE, COREDNS, KWOK, NODE
from steward.local.progress import Progress
from steward.local.settings import ControlPlaneSettings, Layout
from steward.local.shutdown import stop_all
from steward.local.startup import StartRequest
from steward.local.state import State

_WATCH_SECONDS = 0.5
_DISK_BYTES = 256 * disk.MIB


@dataclass(frozen=True)
class ControlPlane:
    """The address, credentials and files of a running control plane."""

    directory: Path
    url: str

    @property
    def kubeconfig(self) -> Path:
        return Layout(self.directory).kubeconfig

    @property
    def audit_log(self) -> Path:
        return Layout(self.directory).audit_log

    @property
    def ca_file(self) -> Path:
        return certificates.Certificates(Layout(self.directory).certificates).ca.certificate

    @property
    def client(self) -> certificates.Pair:
        """The client certificate of the administrator."""
        return certificates.Certificates(Layout(self.directory).certificates).client("admin")


async def start(settings: ControlPlaneSettings, progress: Progress) -> ControlPlane:
    """Start or repair the control plane in `settings.directory`, and return it when it is ready."""
    layout = Layout(settings.directory.absolute())
    containers = await cluster.plan_cluster(settings, layout, progress)
    programs = [CONTROL_PLANE, KWOK] if containers is None else [CONTROL_PLANE, NODE, COREDNS]
    executables = await binaries.ensure(programs, progress)
    need = DiskRequirement("A cluster", _DISK_BYTES, layout.directory, "choose another directory with --dir")
    with disk.translate_disk_full(need):
        layout.processes.mkdir(parents=True, exist_ok=True, mode=0o700)
        disk.require_space(need)
        async with exclusive(
            layout.lock, lambda pid: progress.report(f"waiting for process {pid}, which starts or stops it")
        ):
            return await _start(StartRequest(settings, layout, executables, containers), progress)


async def stop(directory: Path) -> None:
    """Stop all processes of `directory`; keep its data."""
    layout = Layout(directory.absolute())
    if layout.processes.is_dir():
        async with exclusive(layout.lock, lambda pid: None):
            await stop_all(layout)


async def purge(directory: Path) -> None:
    """Stop all processes of `directory` and delete the files that Steward has written there, and no others."""
    await stop(directory)
    layout = Layout(directory.absolute())
    for path in layout.owned_paths():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with suppress(OSError):  # missing, or it holds files of the user
        layout.directory.rmdir()


def find(directory: Path) -> ControlPlane:
    """The running control plane of `directory`."""
    return ControlPlane(directory.absolute(), running_api_server_url(directory))


def previous_state(directory: Path) -> State:
    """Nodes, zones and mode of the last start in `directory`; the defaults for a new cluster."""
    return state.read(Layout(directory.absolute()).state)


async def wait_for_end(directory: Path) -> Service | None:
    """Wait until the control plane is stopped (returns None) or a component dies (returns that component)."""
    layout = Layout(directory.absolute())
    while not is_down(directory):
        if _dead_services(layout):
            # A stop in progress holds the lock: a component that is dead while we hold it was not stopped.
            async with exclusive(layout.lock, lambda pid: None):
                dead = _dead_services(layout)
            if dead:
                return dead[0]
        await asyncio.sleep(_WATCH_SECONDS)
    return None


def _dead_services(layout: Layout) -> list[Service]:
    return [
        service for service in layout.all_services() if service.has_pidfile() and not service.is_running()
    ]


async def was_stopped(directory: Path) -> bool:
    """Whether no process is left, after waiting for a start or stop in progress."""
    async with exclusive(Layout(directory.absolute()).lock, lambda pid: None):
        return is_down(directory)


def is_down(directory: Path) -> bool:
    return not any(service.has_pidfile() for service in Layout(directory.absolute()).all_services())


async def _start(request: StartRequest, progress: Progress) -> ControlPlane:
    layout = request.layout
    remembered = state.read(layout.state)
    assembly, started = startup.assemble(request, remembered.ports), NodeStart()
    async with AsyncExitStack() as undo:
        if remembered.digest == startup.digest(assembly) and await startup.is_healthy(assembly):
            await cluster.load_node_images(assembly, progress)
        else:
            undo.push_async_callback(stop_all, layout)
            started = NodeStart.now()
            assembly = await startup.restart(assembly, progress)
        progress.report("waiting for nodes")
        await startup.wait_for_nodes(assembly, started)
        state.write(layout.state, startup.current_state(assembly))
        undo.pop_all()
    return ControlPlane(layout.directory, assembly.url)
