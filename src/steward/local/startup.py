"""Starts the processes of a control plane, in order, and recognises one that runs already."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from steward.local import certificates, components, ports, state
from steward.local.assembly import Assembly
from steward.local.bootstrap.api import BootstrapClient, connect
from steward.local.bootstrap.setup import apply_bootstrap_objects
from steward.local.containers import cluster
from steward.local.containers import components as container_components
from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.cluster import NodeStart
from steward.local.containers.health import checks as container_checks
from steward.local.containers.machine import preparation
from steward.local.errors import ComponentFailed
from steward.local.health import AddressInUse, Check, url_checks, wait_until_ready
from steward.local.progress import Progress
from steward.local.settings import (
    CLUSTER_COMPONENTS,
    COMPONENTS,
    SHARED_COMPONENTS,
    ControlPlaneSettings,
    Layout,
    Topology,
)
from steward.local.shutdown import stop_all

_ATTEMPTS = 3


@dataclass(frozen=True)
class StartRequest:
    """The settings of a start, and the programs that were found for it."""

    settings: ControlPlaneSettings
    layout: Layout
    binaries: Mapping[str, Path]
    containers: ContainerAssembly | None

    @property
    def listeners(self) -> tuple[str, ...]:
        if self.containers is None:
            return ports.LISTENERS
        return container_components.listeners(self.containers.nodes)


def assemble(request: StartRequest, previous: ports.Ports) -> Assembly:
    """Use the remembered ports even if they are in use: the running control plane may be the one that uses them."""
    settings, layout = request.settings, request.layout
    known = {name: previous[name] for name in request.listeners if name in previous}
    if len(known) < len(request.listeners):
        known = ports.choose_ports(previous, settings.port, request.listeners)
    chosen = {**known, "kube-apiserver": settings.port or known["kube-apiserver"]}
    keys = certificates.ensure(layout.certificates)
    if request.containers is not None:
        certificates.ensure_leaves(keys, container_components.leaves(request.containers))
    return Assembly(settings, layout, keys, chosen, request.binaries, request.containers)


def current_state(assembly: Assembly) -> state.State:
    settings, containers = assembly.settings, assembly.containers
    return state.State(
        dict(assembly.ports),
        digest(assembly),
        Topology(settings.nodes, settings.zones),
        assembly.address,
        str(containers.network.subnet) if containers else "",
    )


def digest(assembly: Assembly) -> str:
    return state.digest(components.commands(assembly), components.files(assembly))


async def is_healthy(assembly: Assembly) -> bool:
    services = [assembly.layout.service(name) for name in components.commands(assembly)]
    if not all(service.is_running() for service in services):
        return False
    async with connect_to(assembly) as api:
        return all(await asyncio.gather(*(check() for check in _checks(assembly, api).values())))


def _checks(assembly: Assembly, api: BootstrapClient) -> dict[str, Check]:
    shared = url_checks(assembly, api)
    if assembly.containers is None:
        return shared
    return shared | container_checks(assembly, assembly.containers, api)


async def restart(assembly: Assembly, progress: Progress) -> Assembly:
    """Retry with other ports if one was taken between the choice and the start, unless the user chose it."""
    for attempt in range(1, _ATTEMPTS + 1):
        await stop_all(assembly.layout)
        listeners = tuple(assembly.ports)
        assembly = replace(
            assembly, ports=ports.choose_ports(assembly.ports, assembly.settings.port, listeners)
        )
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
    state.write(layout.state, current_state(assembly))
    if assembly.containers is not None:
        progress.report("preparing the network of the pods")
        await asyncio.to_thread(preparation.prepare, layout, assembly.containers)
    async with connect_to(assembly) as api:
        await _start_in_order(assembly, api, progress)


async def _start_in_order(assembly: Assembly, api: BootstrapClient, progress: Progress) -> None:
    first, *others = start_groups(assembly.containers)
    await _start_group(assembly, api, first, progress)
    await cluster.load_node_images(assembly, progress)
    for group in others:
        await _start_group(assembly, api, group, progress)


def start_groups(containers: ContainerAssembly | None) -> tuple[tuple[str, ...], ...]:
    """Each group depends on the ones before it; within a group the order does not matter."""
    if containers is None:
        return COMPONENTS[:1], COMPONENTS[1:2], COMPONENTS[2:]
    runtimes = tuple(node.containerd for node in containers.nodes)
    kubelets = tuple(node.kubelet for node in containers.nodes)
    return (
        (*SHARED_COMPONENTS[:1], *runtimes),
        SHARED_COMPONENTS[1:2],
        (*SHARED_COMPONENTS[2:], *kubelets, *CLUSTER_COMPONENTS),
    )


async def _start_group(
    assembly: Assembly, api: BootstrapClient, group: tuple[str, ...], progress: Progress
) -> None:
    commands, checks = components.commands(assembly), _checks(assembly, api)
    progress.report(f"starting {', '.join(group)}")
    for name in group:
        assembly.layout.service(name).start(commands[name], assembly.settings.lifetime)
    for name in group:
        await wait_until_ready(assembly.layout.service(name), checks[name])


async def wait_for_nodes(assembly: Assembly, started: NodeStart) -> None:
    async with connect_to(assembly) as api:
        if assembly.containers is None:
            await apply_bootstrap_objects(assembly.settings, assembly.layout, api)
        else:
            await cluster.wait_for_nodes(assembly, assembly.containers, api, started)


def connect_to(assembly: Assembly) -> AbstractAsyncContextManager[BootstrapClient]:
    return connect(assembly.url, assembly.certificates.ca.certificate, assembly.certificates.client("admin"))
