"""Starts and stops a real Kubernetes control plane in a directory.

`start` is level-triggered: whether nothing runs, a healthy control plane, a partly started one or one with a dead
component, the result is a healthy control plane with the given settings. A failed or interrupted start leaves no
process running. A lock serialises calls on one directory.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from steward.local import certificates, components, ports, state
from steward.local.bootstrap.api import BootstrapClient, connect
from steward.local.bootstrap.setup import apply_bootstrap_objects
from steward.local.components import Assembly
from steward.local.endpoint import running_api_server_port
from steward.local.errors import ComponentFailed
from steward.local.health import AddressInUse, health_urls, wait_until_ready
from steward.local.locks import exclusive
from steward.local.processes import Service
from steward.local.programs import binaries, disk
from steward.local.programs.disk import DiskRequirement
from steward.local.programs.programs import CONTROL_PLANE, KWOK
from steward.local.progress import Progress
from steward.local.settings import COMPONENTS, ControlPlaneSettings, Layout, Topology

_STOP_SECONDS = 10.0
_WATCH_SECONDS = 0.5
_DISK_BYTES = 256 * disk.MIB
_ATTEMPTS = 3


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
    executables = await binaries.ensure([CONTROL_PLANE, KWOK], progress)
    layout = Layout(settings.directory.absolute())
    need = DiskRequirement("A cluster", _DISK_BYTES, layout.directory, "choose another directory with --dir")
    with disk.translate_disk_full(need):
        layout.processes.mkdir(parents=True, exist_ok=True, mode=0o700)
        disk.require_space(need)
        async with exclusive(
            layout.lock, lambda pid: progress.report(f"waiting for process {pid}, which starts or stops it")
        ):
            return await _start(settings, layout, executables, progress)


async def stop(directory: Path) -> None:
    """Stop all processes of `directory`; keep its data."""
    layout = Layout(directory.absolute())
    if layout.processes.is_dir():
        async with exclusive(layout.lock, lambda pid: None):
            await _stop_all(layout)


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
    return ControlPlane(directory.absolute(), f"https://127.0.0.1:{running_api_server_port(directory)}")


def topology(directory: Path) -> Topology:
    """Nodes and zones of the last start in `directory`; the defaults for a new cluster."""
    return state.read(Layout(directory.absolute()).state).topology


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


async def _start(
    settings: ControlPlaneSettings, layout: Layout, executables: dict[str, Path], progress: Progress
) -> ControlPlane:
    remembered = state.read(layout.state)
    assembly = _assemble(settings, layout, executables, remembered.ports)
    async with AsyncExitStack() as undo:
        if remembered.digest != _digest(assembly) or not await _is_healthy(assembly):
            undo.push_async_callback(_stop_all, layout)
            assembly = await _restart(assembly, progress)
        progress.report("waiting for nodes")
        async with _connect(assembly) as api:
            await apply_bootstrap_objects(settings, layout, api)
        state.write(layout.state, _current_state(assembly))
        undo.pop_all()
    return ControlPlane(layout.directory, assembly.url)


def _assemble(
    settings: ControlPlaneSettings, layout: Layout, executables: dict[str, Path], previous: ports.Ports
) -> Assembly:
    """Use the remembered ports even if they are in use: the running control plane may be the one that uses them."""
    is_complete = all(name in previous for name in ports.LISTENERS)
    known = previous if is_complete else ports.choose_ports(previous, settings.port)
    chosen = {**known, "kube-apiserver": settings.port or known["kube-apiserver"]}
    return Assembly(settings, layout, certificates.ensure(layout.certificates), chosen, executables)


def _digest(assembly: Assembly) -> str:
    return state.digest(components.commands(assembly), components.files(assembly))


def _current_state(assembly: Assembly) -> state.State:
    topology = Topology(assembly.settings.nodes, assembly.settings.zones)
    return state.State(dict(assembly.ports), _digest(assembly), topology)


async def _is_healthy(assembly: Assembly) -> bool:
    if not all(service.is_running() for service in assembly.layout.component_services()):
        return False
    async with _connect(assembly) as api:
        return all(await asyncio.gather(*map(api.is_healthy, health_urls(assembly.ports).values())))


async def _restart(assembly: Assembly, progress: Progress) -> Assembly:
    """Retry with other ports if one was taken between the choice and the start, unless the user chose it."""
    for attempt in range(1, _ATTEMPTS + 1):
        await _stop_all(assembly.layout)
        assembly = replace(assembly, ports=ports.choose_ports(assembly.ports, assembly.settings.port))
        try:
            await _start_components(assembly, progress)
        except AddressInUse as error:
            if attempt == _ATTEMPTS:
                raise ComponentFailed(str(error)) from None
        else:
            break
    return assembly


async def _start_components(assembly: Assembly, progress: Progress) -> None:
    layout = assembly.layout
    for path, content in components.files(assembly).items():
        state.replace_file(path, content)
    # Written before the first process starts, so that the ports of a partly started control plane are known.
    state.write(layout.state, _current_state(assembly))
    async with _connect(assembly) as api:
        await _start_in_order(assembly, api, progress)


async def _start_in_order(assembly: Assembly, api: BootstrapClient, progress: Progress) -> None:
    commands, urls = components.commands(assembly), health_urls(assembly.ports)
    # The last three depend on the API server but not on each other.
    for group in (COMPONENTS[:1], COMPONENTS[1:2], COMPONENTS[2:]):
        progress.report(f"starting {', '.join(group)}")
        for name in group:
            assembly.layout.service(name).start(commands[name], assembly.settings.lifetime)
        for name in group:
            await wait_until_ready(assembly.layout.service(name), partial(api.is_healthy, urls[name]))


def _connect(assembly: Assembly) -> AbstractAsyncContextManager[BootstrapClient]:
    return connect(assembly.url, assembly.certificates.ca.certificate, assembly.certificates.client("admin"))


async def _stop_all(layout: Layout) -> None:
    # In parallel: on termination each operator makes calls to the API server, but none to the others.
    await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in layout.operator_services()))
    # An API server without etcd does not terminate on SIGTERM.
    grace_seconds = _STOP_SECONDS if layout.service("etcd").is_running() else 0.0
    for service in reversed(layout.component_services()):
        await service.stop(grace_seconds)
