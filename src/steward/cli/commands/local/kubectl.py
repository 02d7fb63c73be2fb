"""`steward kubectl`: runs kubectl of the version of the local cluster, with its kubeconfig and all arguments."""

from __future__ import annotations

import os

import click

from steward.cli.main import expected_errors
from steward.cli.terminal.live_line import show_progress
from steward.local import signals
from steward.local.endpoint import running_kubeconfig
from steward.local.errors import LocalError
from steward.local.paths import default_directory
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE

# Arguments that need no cluster.
_OFFLINE = {"-h", "--help", "help", "completion", "--client", "options"}


class PassThrough(click.Command):
    """Passes arguments through unparsed: the parser of click would drop the `--` of `kubectl exec POD -- COMMAND`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["arguments"] = list(args)
        return []


@click.command(name="kubectl", cls=PassThrough, add_help_option=False)
def command(arguments: list[str]) -> None:
    """Run kubectl against the local control plane ($STEWARD_DIR, else the user's state directory)."""
    environment = dict(os.environ)
    with expected_errors(LocalError, OSError):
        if arguments and not _OFFLINE.intersection(arguments):
            environment["KUBECONFIG"] = str(running_kubeconfig(default_directory()))
        os.execve(_kubectl_path(), ["kubectl", *arguments], environment)


def _kubectl_path() -> str:
    try:
        return str(signals.run(_build_kubectl()))
    except signals.Interrupted:
        raise click.Abort from None


async def _build_kubectl() -> os.PathLike[str]:
    with show_progress() as progress:
        return (await binaries.ensure([CONTROL_PLANE], progress))["kubectl"]
