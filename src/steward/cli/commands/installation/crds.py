"""`steward crds`: prints the custom resource definitions of this version, for installing them separately."""

from __future__ import annotations

import click

from steward.cli.install_options import dump_yaml
from steward.install.manifests import crds
from steward.install.operators import OPERATORS

_EPILOG = """\b
Example:
  steward crds | kubectl apply --server-side -f -
\b
Exit codes: 0 done.
"""


@click.command("crds", epilog=_EPILOG)
@click.option(
    "--only",
    type=click.Choice([operator.short_name for operator in OPERATORS]),
    help="Only those of this operator.",
)
def command(only: str | None) -> None:
    """Print the custom resource definitions."""
    definitions = [
        crd for operator in OPERATORS if only in (None, operator.short_name) for crd in crds(operator)
    ]
    click.echo(dump_yaml(definitions), nl=False)
