"""The images that Steward makes itself: name, settings, and the files of each."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from steward.install.values import Values
from steward.local.images import python_root
from steward.local.images.layers import LayerDirectory, LayerEntry, LayerFile, tree_entries
from steward.local.images.names import full_name
from steward.local.images.writing import ImageSettings
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE, PAUSE, WORKLOAD, Program, build_key, platform_name
from steward.local.progress import Progress
from steward.multigres.resolution.defaults import ETCD_IMAGE

PAUSE_IMAGE = "steward.local/pause:1"
WORKLOAD_IMAGE = "steward.local/workload:1"
OPERATOR_IMAGE = f"{Values().image.repository}:{Values().image.tag}"

# Of the images whose user no pod of Steward sets.
_USER = "65532:65532"


@dataclass(frozen=True)
class Workspace:
    """Where an image is made: `directory` is deleted afterwards."""

    cache: Path
    directory: Path
    progress: Progress


Entries = Callable[[Workspace], Awaitable[Sequence[LayerEntry]]]


@dataclass(frozen=True)
class Recipe:
    """How to make one image. `inputs` identifies everything that its bytes depend on."""

    name: str
    settings: ImageSettings
    inputs: str
    entries: Entries

    @property
    def file_name(self) -> str:
        return f"{self.prefix}{self.version}.tar"

    @property
    def prefix(self) -> str:
        return f"{full_name(self.name).replace('/', '_').replace(':', '_')}-"

    @property
    def version(self) -> str:
        return hashlib.sha256(f"{self.name}\n{self.settings}\n{self.inputs}".encode()).hexdigest()[:16]


def pause() -> Recipe:
    # The runtime decides about the user of a sandbox; the program needs no rights.
    return _one_program(PAUSE_IMAGE, PAUSE, ImageSettings(("/pause",), user="65535:65535"))


def workload() -> Recipe:
    return _one_program(WORKLOAD_IMAGE, WORKLOAD, ImageSettings(("/workload",), user=_USER))


def etcd() -> Recipe:
    """The etcd of the control plane, under the name that TopoServers use, of the same minor version."""

    async def entries(workspace: Workspace) -> Sequence[LayerEntry]:
        found = await binaries.ensure([CONTROL_PLANE], workspace.progress, workspace.cache)
        # The program decides by its own name what it is.
        program = LayerFile("usr/local/bin/etcd", found["etcd"].resolve())
        return [program, LayerDirectory("var/lib/etcd"), LayerDirectory("tmp", 0o1777)]

    settings = ImageSettings(("/usr/local/bin/etcd",), environment=("PATH=/usr/local/bin",))
    return Recipe(ETCD_IMAGE, settings, build_key(CONTROL_PLANE, platform_name()), entries)


def operators() -> Recipe:
    """The image of both operators, under the name that `steward install` and the kustomize files use."""

    async def entries(workspace: Workspace) -> Sequence[LayerEntry]:
        workspace.progress.report(f"copying Python and its packages for the image {OPERATOR_IMAGE}")
        await asyncio.to_thread(python_root.build, workspace.directory)
        return [*tree_entries(workspace.directory), LayerDirectory("tmp", 0o1777)]

    settings = ImageSettings(
        entrypoint=("steward",),
        command=("run",),
        environment=(
            f"PATH={python_root.PREFIX}/bin:/usr/local/bin:/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE=1",
            "PYTHONUNBUFFERED=1",
        ),
        user=_USER,
    )
    return Recipe(OPERATOR_IMAGE, settings, python_root.inputs(), entries)


def _one_program(name: str, program: Program, settings: ImageSettings) -> Recipe:
    async def entries(workspace: Workspace) -> Sequence[LayerEntry]:
        found = await binaries.ensure([program], workspace.progress, workspace.cache)
        return [LayerFile(program.name, found[program.name])]

    return Recipe(name, settings, build_key(program, platform_name()), entries)
