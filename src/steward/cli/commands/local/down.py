"""`steward down`: stops what `steward up` started. The data of the cluster is kept without --purge."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from steward.cli.main import expected_errors
from steward.local import control_plane
from steward.local.errors import LocalError
from steward.local.paths import default_directory

_EPILOG = """\b
Examples:
  steward down
  steward down --purge --dir /tmp/scratch
\b
Exit codes: 0 everything is stopped, 1 it could not be stopped.
"""


@click.command(name="down", epilog=_EPILOG)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the cluster is kept.  [default: $STEWARD_DIR, else the user's state directory]",
)
@click.option(
    "--purge", is_flag=True, help="Remove the cluster's data too: the next `up` makes a new cluster."
)
def command(directory: Path | None, purge: bool) -> None:
    """Stop what `steward up` started: the operators first, then the control plane."""
    place = directory or default_directory()
    was_down = control_plane.is_down(place)
    with expected_errors(LocalError, OSError):
        asyncio.run(control_plane.purge(place) if purge else control_plane.stop(place))
    click.echo(f"Nothing was running in {place}." if was_down else f"Stopped the control plane in {place}.")
    if purge:
        click.echo("Its data is removed.")
