"""`steward up`: a real Kubernetes on this machine.

In the foreground it stays until Ctrl-C (or SIGTERM, or a closed terminal) and then takes everything down; with
`--detach` it returns when the cluster is ready. Either way the cluster's data stays in its directory, and the next
`up` finds the same cluster.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import click

from steward.cli.main import ExitCode, one_sentence
from steward.cli.screen import progress_shown
from steward.local import control_plane
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed, LocalError
from steward.local.places import default_directory
from steward.local.processes import Lifetime
from steward.local.programs import CONTROL_PLANE
from steward.local.settings import MAX_NODES, ControlPlaneSettings


def _zones(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    zones = tuple(zone.strip() for zone in value.split(",") if zone.strip())
    if not zones:
        raise click.BadParameter("name at least one zone, as in --zones z1,z2,z3")
    return zones


@click.command(name="up")
@click.option("--detach", is_flag=True, help="Return when the cluster is ready; `steward down` stops it.")
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
    nodes: int | None,
    zones: tuple[str, ...] | None,
    port: int | None,
    directory: Path | None,
) -> None:
    """Start a real Kubernetes control plane on this machine: etcd, API server, controllers, scheduler and nodes.

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
    with one_sentence(LocalError, OSError):
        context.exit(asyncio.run(_until_interrupted(settings)))


async def _until_interrupted(settings: ControlPlaneSettings) -> int:
    """The exit code. The first signal ends the work in order; later ones change nothing, the end is on its way."""
    work = asyncio.ensure_future(_up(settings))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


async def _up(settings: ControlPlaneSettings) -> None:
    began = time.monotonic()
    with progress_shown() as progress:
        plane = await control_plane.start(settings, progress)
    _introduce(plane, settings, time.monotonic() - began)
    if settings.lifetime is Lifetime.PARENT:
        await _stay(plane)


async def _stay(plane: ControlPlane) -> None:
    """Until somebody wants it to end, or a component dies."""
    try:
        dead = await control_plane.wait_for_end(plane.directory)
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
