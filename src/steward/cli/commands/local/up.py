"""`steward up`: starts a local Kubernetes with both operators and a sample.

In the foreground it runs until Ctrl-C (or SIGTERM, or a closed terminal) and then stops everything; with `--detach` it
returns when the sample is ready, and Ctrl-C before that only ends the watch. The data of the cluster is kept in its
directory, and the next `up` starts the same cluster.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
import time
from collections.abc import Coroutine
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path

import click

from steward.cli.main import ExitCode, expected_errors
from steward.cli.terminal.live_line import show_progress
from steward.kube.errors import KubeError
from steward.local import control_plane, page_process, signals
from steward.local.containers.cluster import plan_cluster
from steward.local.containers.footprint import footprint
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed, LocalError, StoppedDuringStart
from steward.local.paths import default_directory
from steward.local.processes import Lifetime
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import Progress
from steward.local.settings import (
    DEFAULT_CONTAINER_ZONES,
    DEFAULT_POD_SUBNET,
    MAX_NODES,
    ContainerSettings,
    ControlPlaneSettings,
    Layout,
    with_containers,
)
from steward.local.signals import Interrupted
from steward.local.state import State


def _parse_zones(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    zones = tuple(zone.strip() for zone in value.split(",") if zone.strip())
    if not zones:
        raise click.BadParameter("name at least one zone, as in --zones z1,z2,z3")
    return zones


_EPILOG = """\b
Examples:
  steward up                        stays until Ctrl-C
  steward up --detach --nodes 6     returns when all is ready; `steward down` stops it
  steward up --bare --detach --dir /tmp/scratch
  sudo steward up --containers --zones z1,z2 --dir /var/tmp/real
\b
Exit codes: 0 all is ready, or it was stopped by `steward down`, 1 something failed or is not ready yet, 130 after
Ctrl-C.
"""


@click.command(name="up", epilog=_EPILOG)
@click.option("--detach", is_flag=True, help="Return when all is ready; `steward down` stops it.")
@click.option("--bare", is_flag=True, help="Only Kubernetes: no operators and no sample.")
@click.option(
    "--nodes", type=click.IntRange(1, MAX_NODES), help="Number of nodes.  [default: as before, else 3]"
)
@click.option(
    "--zones", callback=_parse_zones, help="Zones of the nodes.  [default: as before, else z1,z2,z3]"
)
@click.option(
    "--containers",
    is_flag=True,
    help="Run pods in real containers, with one node in each zone. Needs root; prints what it makes on this machine.",
)
@click.option(
    "--pod-subnet",
    help=f"With --containers: addresses of bridge, nodes and pods.  [default: as before, else {DEFAULT_POD_SUBNET}]",
)
@click.option(
    "--images",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="With --containers: a directory of image archives for the nodes.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the API server.  [default: a free one]")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the cluster is kept.  [default: $STEWARD_DIR, else the user's state directory]",
)
@click.pass_context
def command(
    context: click.Context,
    *,
    detach: bool,
    bare: bool,
    nodes: int | None,
    zones: tuple[str, ...] | None,
    port: int | None,
    directory: Path | None,
    containers: bool,
    pod_subnet: str | None,
    images: Path | None,
) -> None:
    """Start a real Kubernetes on this machine, with both operators and a sample: a database and twelve customers.

    The first time, its programs are built from source (several minutes); after that it takes seconds.
    """
    lifetime = Lifetime.OWN if detach else Lifetime.PARENT
    chosen = ControlPlaneSettings(directory or default_directory(), port=port, lifetime=lifetime)
    previous = control_plane.previous_state(chosen.directory)
    if containers or previous.pod_subnet:
        if nodes is not None:
            raise click.UsageError(
                "--nodes is not for containers, which have one node in each zone: use --zones."
            )
        settings = _with_containers(chosen, previous, zones, ContainerSettings(pod_subnet or "", images))
    else:
        _require_no_values({"--pod-subnet": pod_subnet, "--images": images})
        count, zones = nodes or previous.topology.nodes, zones or previous.topology.zones
        settings = replace(chosen, nodes=count, zones=zones)
    with expected_errors(LocalError, KubeError, OSError):
        context.exit(_run_interruptible(_up(settings, Extent.BARE if bare else Extent.FULL)))


def _with_containers(
    chosen: ControlPlaneSettings,
    previous: State,
    zones: tuple[str, ...] | None,
    containers: ContainerSettings,
) -> ControlPlaneSettings:
    """What the user has not chosen is as before."""
    subnet = containers.pod_subnet or previous.pod_subnet or DEFAULT_POD_SUBNET
    known = previous.topology.zones if previous.pod_subnet else DEFAULT_CONTAINER_ZONES
    return with_containers(chosen, replace(containers, pod_subnet=subnet), zones or known)


def _require_no_values(options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"{name} needs --containers.")


async def _announce(settings: ControlPlaneSettings, progress: Progress) -> None:
    """Before the first start with containers: what it makes on this machine, if nothing stands in its way."""
    layout = Layout(settings.directory.absolute())
    if control_plane.previous_state(layout.directory).is_new:
        containers = await plan_cluster(settings, layout, progress)
        if containers is not None:
            for line in footprint(layout.directory, containers.network):
                click.echo(line)


class Extent(Enum):
    """What to start."""

    BARE = "Kubernetes alone"
    FULL = "the operators and the sample too"


def _run_interruptible(work: Coroutine[None, None, int]) -> int:
    try:
        return signals.run(work)
    except Interrupted:
        return ExitCode.INTERRUPTED


async def _up(settings: ControlPlaneSettings, extent: Extent) -> int:
    began = time.monotonic()
    with show_progress() as progress:
        await _announce(settings, progress)
        plane = await control_plane.start(settings, progress)
    _print_endpoint(plane, settings, time.monotonic() - began)
    if settings.lifetime is Lifetime.PARENT:
        return await _run_in_foreground(plane, _start_demo(plane, settings, extent))
    return await _start_demo_detached(plane, settings, extent)


async def _start_demo(plane: ControlPlane, settings: ControlPlaneSettings, extent: Extent) -> int:
    # Imported here: starting the control plane must not need the engine, which is tested on it.
    from steward.cli.demo import DemoTarget, remove_operators, start_demo

    if extent is Extent.BARE:
        await remove_operators(plane)
        return ExitCode.DONE
    if url := await page_process.start(plane, settings.lifetime):
        click.echo(f"  page        {url}")
    try:
        is_ready = await start_demo(DemoTarget(plane, settings, partial(_format_command, settings)))
    except (LocalError, KubeError):
        if await control_plane.was_stopped(plane.directory):
            raise StoppedDuringStart("The control plane was stopped by `steward down`.") from None
        raise
    return ExitCode.DONE if is_ready else ExitCode.FAILED


async def _start_demo_detached(plane: ControlPlane, settings: ControlPlaneSettings, extent: Extent) -> int:
    try:
        return await _start_demo(plane, settings, extent)
    except asyncio.CancelledError:
        click.echo(f"The cluster keeps running. Stop it: {_format_command(settings, 'down')}", err=True)
        raise


async def _run_in_foreground(plane: ControlPlane, starting: Coroutine[None, None, int]) -> int:
    """Runs until `steward down`, a signal, or the end of a component."""
    try:
        await starting
        click.echo("Ctrl-C stops it.")
        dead = await control_plane.wait_for_end(plane.directory)
    except StoppedDuringStart:
        dead = None
    except asyncio.CancelledError:
        click.echo("Stopping.", err=True)
        raise
    finally:
        await control_plane.stop(plane.directory)
    if dead is not None:
        raise ComponentFailed(
            f"{dead.name} has ended, so the rest is stopped too: run `steward up` again to continue; "
            f"its log ({dead.logfile}) ends with:\n{dead.log_tail()}"
        )
    click.echo("The control plane was stopped by `steward down`.")
    return ExitCode.DONE


def _print_endpoint(plane: ControlPlane, settings: ControlPlaneSettings, seconds: float) -> None:
    zones = ", ".join(settings.zones[: settings.nodes])
    foreground = settings.lifetime is Lifetime.PARENT
    click.echo(f"Kubernetes {CONTROL_PLANE.version} is ready at {plane.url} after {seconds:.1f} s.")
    click.echo(f"  nodes       {settings.nodes} in {zones}")
    click.echo(f"  kubeconfig  {plane.kubeconfig}")
    click.echo(f"  try         {_format_command(settings, 'kubectl get nodes')}")
    click.echo(f"  stop        {'Ctrl-C' if foreground else _format_command(settings, 'down')}")


def _format_command(settings: ControlPlaneSettings, verb: str) -> str:
    """A command line to copy, with the program name and directory of this call."""
    program = sys.argv[0] if shutil.which("steward") is None else "steward"
    place = settings.directory.absolute()
    elsewhere = "" if place == default_directory().absolute() else f"STEWARD_DIR={shlex.quote(str(place))} "
    return f"{elsewhere}{program} {verb}"
