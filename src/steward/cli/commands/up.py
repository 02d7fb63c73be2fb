"""`steward up`: a real Kubernetes on this machine, the operators on top of it, and a sample to try them on.

In the foreground it stays until Ctrl-C (or SIGTERM, or a closed terminal) and then takes everything down; with
`--detach` it returns when the sample is ready, and Ctrl-C before that only ends the watching. Either way the cluster's
data stays in its directory, and the next `up` finds the same cluster.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
import time
from collections.abc import Coroutine
from enum import Enum
from functools import partial
from pathlib import Path

import click

from steward.cli.main import ExitCode, one_sentence
from steward.cli.terminal.live_line import progress_shown
from steward.kube.errors import KubeError
from steward.local import control_plane, signals
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed, LocalError, StoppedMeanwhile
from steward.local.paths import default_directory
from steward.local.processes import Lifetime
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.settings import MAX_NODES, ControlPlaneSettings
from steward.local.signals import Interrupted


def _zones(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
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
\b
Exit codes: 0 all is ready, or it was stopped by `steward down`, 1 something failed or is not ready yet, 130 after
Ctrl-C.
"""


@click.command(name="up", epilog=_EPILOG)
@click.option("--detach", is_flag=True, help="Return when all is ready; `steward down` stops it.")
@click.option("--bare", is_flag=True, help="Only Kubernetes: no operators and no sample.")
@click.option(
    "--nodes", type=click.IntRange(1, MAX_NODES), help="How many nodes.  [default: as before, else 3]"
)
@click.option("--zones", callback=_zones, help="Where the nodes lie.  [default: as before, else z1,z2,z3]")
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
) -> None:
    """Start a real Kubernetes on this machine, both operators on it, and a sample: a database and a dozen customers.

    The first time, its programs are built from source (several minutes); after that it takes seconds.
    """
    place = directory or default_directory()
    before = control_plane.topology(place)
    settings = ControlPlaneSettings(
        directory=place,
        nodes=nodes or before.nodes,
        zones=zones or before.zones,
        port=port,
        lifetime=Lifetime.OWN if detach else Lifetime.PARENT,
    )
    with one_sentence(LocalError, KubeError, OSError):
        context.exit(_to_the_end(_up(settings, Extent.BARE if bare else Extent.WHOLE)))


class Extent(Enum):
    """How much is started."""

    BARE = "Kubernetes alone"
    WHOLE = "the operators and the sample too"


def _to_the_end(coming_up: Coroutine[None, None, int]) -> int:
    try:
        return signals.run(coming_up)
    except Interrupted:
        return ExitCode.INTERRUPTED


async def _up(settings: ControlPlaneSettings, extent: Extent) -> int:
    began = time.monotonic()
    with progress_shown() as progress:
        plane = await control_plane.start(settings, progress)
    _introduce(plane, settings, time.monotonic() - began)
    if settings.lifetime is Lifetime.PARENT:
        return await _stay(plane, _furnish(plane, settings, extent))
    return await _furnish_and_go(plane, settings, extent)


async def _furnish(plane: ControlPlane, settings: ControlPlaneSettings, extent: Extent) -> int:
    # Only here: what a bare control plane needs stands below the engine that is tested on it.
    from steward.cli.demo import Arrival, furnish, leave_bare

    if extent is Extent.BARE:
        await leave_bare(plane)
        return ExitCode.DONE
    try:
        is_ready = await furnish(Arrival(plane, settings, partial(_call, settings)))
    except (LocalError, KubeError):
        if await control_plane.was_stopped(plane.directory):
            raise StoppedMeanwhile("The control plane was stopped by `steward down`.") from None
        raise
    return ExitCode.DONE if is_ready else ExitCode.FAILED


async def _furnish_and_go(plane: ControlPlane, settings: ControlPlaneSettings, extent: Extent) -> int:
    try:
        return await _furnish(plane, settings, extent)
    except asyncio.CancelledError:
        click.echo(f"It goes on without you. Stop it: {_call(settings, 'down')}", err=True)
        raise


async def _stay(plane: ControlPlane, furnishing: Coroutine[None, None, int]) -> int:
    """Until somebody wants it to end, or a component dies."""
    try:
        await furnishing
        click.echo("Ctrl-C stops it.")
        dead = await control_plane.wait_for_end(plane.directory)
    except StoppedMeanwhile:
        dead = None
    except asyncio.CancelledError:
        click.echo("Stopping.", err=True)
        raise
    finally:
        await control_plane.stop(plane.directory)
    if dead is not None:
        raise ComponentFailed(
            f"{dead.name} has ended, so the rest is stopped too: run `steward up` again to go on where it was; "
            f"its log ({dead.logfile}) ends with:\n{dead.log_tail()}"
        )
    click.echo("The control plane was stopped by `steward down`.")
    return ExitCode.DONE


def _introduce(plane: ControlPlane, settings: ControlPlaneSettings, seconds: float) -> None:
    zones = ", ".join(settings.zones[: settings.nodes])
    foreground = settings.lifetime is Lifetime.PARENT
    click.echo(f"Kubernetes {CONTROL_PLANE.version} is ready at {plane.url} after {seconds:.1f} s.")
    click.echo(f"  nodes       {settings.nodes} in {zones}")
    click.echo(f"  kubeconfig  {plane.kubeconfig}")
    click.echo(f"  try         {_call(settings, 'kubectl get nodes')}")
    click.echo(f"  stop        {'Ctrl-C' if foreground else _call(settings, 'down')}")


def _call(settings: ControlPlaneSettings, verb: str) -> str:
    """A command that can be copied as it is: by the name that this one was called by, for the same directory."""
    program = sys.argv[0] if shutil.which("steward") is None else "steward"
    place = settings.directory.absolute()
    elsewhere = "" if place == default_directory().absolute() else f"STEWARD_DIR={shlex.quote(str(place))} "
    return f"{elsewhere}{program} {verb}"
