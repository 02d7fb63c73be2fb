"""What the control plane does for a cluster with containers: before the start, during it and after the end."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from steward.local import state
from steward.local.assembly import Assembly
from steward.local.bootstrap.api import BootstrapClient
from steward.local.bootstrap.setup import LONG_AGO, ExpectedNodes, apply_container_objects
from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.machine import preparation
from steward.local.containers.machine.iptables import Iptables
from steward.local.containers.network import parse_pod_network
from steward.local.containers.nodes import plan_nodes
from steward.local.containers.programs import find_programs
from steward.local.errors import ModeChanged
from steward.local.images.archives import ImageArchive, read_directory
from steward.local.paths import cache_directory
from steward.local.progress import Progress
from steward.local.settings import ControlPlaneSettings, Layout

_STOP_SECONDS = 5.0


async def plan_cluster(
    settings: ControlPlaneSettings, layout: Layout, progress: Progress
) -> ContainerAssembly | None:
    """What a cluster with these settings is made of; None without containers. Fails before anything slow begins."""
    _require_same_mode(settings, layout)
    if settings.containers is None:
        return None
    network = parse_pod_network(settings.containers.pod_subnet)
    preparation.require_suitable()
    user_images = await _read_user_images(settings.containers.images, progress)
    programs = await find_programs(cache_directory(), progress)
    if not preparation.is_made(layout):
        preparation.require_available(layout, network, Iptables(programs.iptables))
    return ContainerAssembly(network, plan_nodes(settings.zones, network), programs, user_images)


async def _read_user_images(directory: Path | None, progress: Progress) -> tuple[ImageArchive, ...]:
    if directory is None:
        return ()
    progress.report(f"reading the image archives in {directory}")
    return tuple(await asyncio.to_thread(read_directory, directory))


def _require_same_mode(settings: ControlPlaneSettings, layout: Layout) -> None:
    previous = state.read(layout.state)
    if previous.is_new or bool(previous.pod_subnet) == (settings.containers is not None):
        return
    made, asked = ("with", "without") if previous.pod_subnet else ("without", "with")
    raise ModeChanged(
        f"The cluster in {layout.directory} was made {made} containers and cannot be started {asked} them: delete it "
        "with `steward down --purge`, or choose another directory with --dir."
    )


async def load_node_images(assembly: Assembly, progress: Progress) -> None:
    if assembly.containers is not None:
        # Imported here: it needs the operators' code, and a control plane without containers must start without it.
        from steward.local.containers.node_images import load_images

        await load_images(assembly.containers, cache_directory(), progress)


class NodeStart:
    """When the nodes of this start began: an earlier start has left its nodes as ready."""

    def __init__(self, since: datetime = LONG_AGO) -> None:
        self.since = since

    @classmethod
    def now(cls) -> NodeStart:
        return cls(datetime.now(UTC).replace(microsecond=0))


async def wait_for_nodes(
    assembly: Assembly, containers: ContainerAssembly, api: BootstrapClient, started: NodeStart
) -> None:
    names = frozenset(node.name for node in containers.nodes)
    kubelet = assembly.layout.service(containers.nodes[-1].kubelet)
    await apply_container_objects(assembly.layout, api, ExpectedNodes(names, kubelet, started.since))


async def stop_nodes(layout: Layout) -> None:
    """End kubelets, containers and their runtimes. Kubelets first: they would start the containers again."""
    services = list(reversed(layout.node_services()))
    await asyncio.gather(*(each.stop(_STOP_SECONDS) for each in services if "containerd-" not in each.name))
    await asyncio.to_thread(preparation.kill_containers, layout)
    await asyncio.gather(*(each.stop(_STOP_SECONDS) for each in services if "containerd-" in each.name))


async def clean_machine(layout: Layout) -> None:
    await asyncio.to_thread(preparation.clean, layout)
