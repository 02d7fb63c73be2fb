"""Starts and stops a real Kubernetes control plane in a directory.

`start` is level-triggered: it looks at what runs, and whatever it finds (nothing, a healthy control plane, one that was
half started, one of which a part has died) it ends with a healthy one that is set up as asked. A failed or interrupted
start leaves no process behind. Two calls on one directory take turns.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from steward.local import certificates, components, ports, state
from steward.local.bootstrap.api import Api, connect
from steward.local.bootstrap.setup import set_up
from steward.local.components import Assembly
from steward.local.endpoint import port_in
from steward.local.errors import ComponentFailed
from steward.local.health import AddressInUse, health_urls, wait_until_ready
from steward.local.locks import exclusive
from steward.local.processes import Service
from steward.local.programs import binaries, disk
from steward.local.programs.disk import Need
from steward.local.programs.programs import CONTROL_PLANE, KWOK
from steward.local.progress import Progress
from steward.local.settings import COMPONENTS, ControlPlaneSettings, Layout, Topology

_STOP_SECONDS = 10.0
_WATCH_SECONDS = 0.5
_DISK_BYTES = 256 * disk.MIB
_ATTEMPTS = 3


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane, as its users need it."""

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
        """The certificate of a user who may do everything."""
        return certificates.Certificates(Layout(self.directory).certificates).client("admin")


async def start(settings: ControlPlaneSettings, progress: Progress) -> ControlPlane:
    """The control plane in `settings.directory`, started, healed or just found, and ready."""
    executables = await binaries.ensure([CONTROL_PLANE, KWOK], progress)
    layout = Layout(settings.directory.absolute())
    need = Need("A cluster", _DISK_BYTES, layout.directory, "choose another directory with --dir")
    with disk.told(need):
        layout.processes.mkdir(parents=True, exist_ok=True, mode=0o700)
        disk.require(need)
        async with exclusive(
            layout.lock, lambda pid: progress.report(f"waiting for process {pid}, which starts or stops it")
        ):
            return await _start(settings, layout, executables, progress)


async def stop(directory: Path) -> None:
    """Stop whatever runs in `directory`; its data stays."""
    layout = Layout(directory.absolute())
    if layout.processes.is_dir():
        async with exclusive(layout.lock, lambda pid: None):
            await _stop_all(layout)


async def purge(directory: Path) -> None:
    """Stop whatever runs in `directory` and remove what Steward has written there, and nothing else."""
    await stop(directory)
    layout = Layout(directory.absolute())
    for path in layout.owned():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with suppress(OSError):  # not there, or the user keeps other things in it
        layout.directory.rmdir()


def find(directory: Path) -> ControlPlane:
    """The control plane that runs in `directory`."""
    return ControlPlane(directory.absolute(), f"https://127.0.0.1:{port_in(directory)}")


def topology(directory: Path) -> Topology:
    """The nodes and zones that the cluster in `directory` has or had; the defaults for a new one."""
    return state.read(Layout(directory.absolute()).state).topology


async def wait_for_end(directory: Path) -> Service | None:
    """Until it is stopped by somebody (None) or one of its components dies by itself (that one)."""
    layout = Layout(directory.absolute())
    while not is_down(directory):
        if _dead(layout):
            # Whoever stops it holds the lock; what is dead once we have it has died by itself.
            async with exclusive(layout.lock, lambda pid: None):
                dead = _dead(layout)
            if dead:
                return dead[0]
        await asyncio.sleep(_WATCH_SECONDS)
    return None


def _dead(layout: Layout) -> list[Service]:
    return [service for service in layout.everything() if service.is_known() and not service.is_running()]


async def was_stopped(directory: Path) -> bool:
    """Whether nothing is left, once whoever starts or stops it just now is done."""
    async with exclusive(Layout(directory.absolute()).lock, lambda pid: None):
        return is_down(directory)


def is_down(directory: Path) -> bool:
    return not any(service.is_known() for service in Layout(directory.absolute()).everything())


async def _start(
    settings: ControlPlaneSettings, layout: Layout, executables: dict[str, Path], progress: Progress
) -> ControlPlane:
    remembered = state.read(layout.state)
    assembly = _assemble(settings, layout, executables, remembered.ports)
    async with AsyncExitStack() as undo:
        if remembered.digest != _digest(assembly) or not await _is_healthy(assembly):
            undo.push_async_callback(_stop_all, layout)
            assembly = await _start_afresh(assembly, progress)
        progress.report("waiting for nodes")
        async with _connected(assembly) as api:
            await set_up(settings, layout, api)
        state.write(layout.state, _state(assembly))
        undo.pop_all()
    return ControlPlane(layout.directory, assembly.url)


def _assemble(
    settings: ControlPlaneSettings, layout: Layout, executables: dict[str, Path], before: ports.Ports
) -> Assembly:
    """With the remembered ports, whether they are free or not: they are in use where the control plane runs."""
    known = before if all(name in before for name in ports.LISTENERS) else ports.choose(before, settings.port)
    chosen = {**known, "kube-apiserver": settings.port or known["kube-apiserver"]}
    return Assembly(settings, layout, certificates.ensure(layout.certificates), chosen, executables)


def _digest(assembly: Assembly) -> str:
    return state.digest(components.commands(assembly), components.files(assembly))


def _state(assembly: Assembly) -> state.State:
    topology = Topology(assembly.settings.nodes, assembly.settings.zones)
    return state.State(dict(assembly.ports), _digest(assembly), topology)


async def _is_healthy(assembly: Assembly) -> bool:
    if not all(service.is_running() for service in assembly.layout.services()):
        return False
    async with _connected(assembly) as api:
        return all(await asyncio.gather(*map(api.answers, health_urls(assembly.ports).values())))


async def _start_afresh(assembly: Assembly, progress: Progress) -> Assembly:
    """A port that was free a moment ago may be gone: then try again with others, unless it was asked for."""
    for attempt in range(1, _ATTEMPTS + 1):
        await _stop_all(assembly.layout)
        assembly = replace(assembly, ports=ports.choose(assembly.ports, assembly.settings.port))
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
    # Remembered before anything runs: whoever finds a half-started one knows its ports.
    state.write(layout.state, _state(assembly))
    async with _connected(assembly) as api:
        await _start_in_order(assembly, api, progress)


async def _start_in_order(assembly: Assembly, api: Api, progress: Progress) -> None:
    commands, urls = components.commands(assembly), health_urls(assembly.ports)
    # The last three need the API server but not each other.
    for group in (COMPONENTS[:1], COMPONENTS[1:2], COMPONENTS[2:]):
        progress.report(f"starting {', '.join(group)}")
        for name in group:
            assembly.layout.service(name).start(commands[name], assembly.settings.lifetime)
        for name in group:
            await wait_until_ready(assembly.layout.service(name), partial(api.answers, urls[name]))


def _connected(assembly: Assembly) -> AbstractAsyncContextManager[Api]:
    return connect(assembly.url, assembly.certificates.ca.certificate, assembly.certificates.client("admin"))


async def _stop_all(layout: Layout) -> None:
    # Those on top end at the same time: each has something to tell the API server, but nothing to the others.
    await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in layout.residents()))
    # An API server that has lost its etcd never ends by itself.
    patience = _STOP_SECONDS if layout.service("etcd").is_running() else 0.0
    for service in reversed(layout.services()):
        await service.stop(patience)
