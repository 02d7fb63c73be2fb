"""`steward kubectl`: kubectl of the same version as the cluster, with its kubeconfig. Every argument is kubectl's."""

from __future__ import annotations

import os

import click

from steward.cli.main import one_sentence
from steward.cli.terminal.live_line import progress_shown
from steward.local import signals
from steward.local.endpoint import kubeconfig_in
from steward.local.errors import LocalError
from steward.local.paths import default_directory
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE

# Calls that need no cluster.
_OFFLINE = {"-h", "--help", "help", "completion", "--client", "options"}


class PassThrough(click.Command):
    """Takes the arguments as they are. click's own parser would swallow the `--` of `kubectl exec POD -- COMMAND`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["arguments"] = list(args)
        return []


@click.command(name="kubectl", cls=PassThrough, add_help_option=False)
def command(arguments: list[str]) -> None:
    """Run kubectl against the local control plane ($STEWARD_DIR, else the user's state directory)."""
    environment = dict(os.environ)
    with one_sentence(LocalError, OSError):
        if arguments and not _OFFLINE.intersection(arguments):
            environment["KUBECONFIG"] = str(kubeconfig_in(default_directory()))
        os.execve(_built(), ["kubectl", *arguments], environment)


def _built() -> str:
    try:
        return str(signals.run(_kubectl()))
    except signals.Interrupted:
        raise click.Abort from None


async def _kubectl() -> os.PathLike[str]:
    with progress_shown() as progress:
        return (await binaries.ensure([CONTROL_PLANE], progress))["kubectl"]
