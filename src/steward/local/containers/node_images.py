"""Gives every node the images that Steward makes and those of the user."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.names import RUN
from steward.local.containers.programs import find_programs
from steward.local.images.catalog import ensure_images
from steward.local.images.importing import image_names, import_archives
from steward.local.progress import Progress


async def load_images(containers: ContainerAssembly, cache: Path, progress: Progress) -> None:
    archives = await ensure_images(cache, containers.user_images, progress)
    for node in containers.nodes:
        await import_archives(containers.programs.ctr, node.socket, archives, progress)


async def first_node_images(cache: Path, progress: Progress) -> set[str]:
    """The full names of the images of the running cluster's first node; all nodes have the same."""
    programs = await find_programs(cache, progress)
    return await image_names(programs.ctr, RUN / "node-1" / "containerd.sock")
