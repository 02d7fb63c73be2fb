"""`steward crds`: prints the custom resource definitions of this version, for those who install them apart."""

from __future__ import annotations

import click

from steward.cli.install_options import as_yaml
from steward.install.manifests import crds
from steward.install.operators import SHIPPED

_EPILOG = """\b
Example:
  steward crds | kubectl apply --server-side -f -
\b
Exit codes: 0 done.
"""


@click.command("crds", epilog=_EPILOG)
@click.option(
    "--only", type=click.Choice([operator.word for operator in SHIPPED]), help="Those of one operator."
)
def command(only: str | None) -> None:
    """Print the custom resource definitions."""
    found = [crd for operator in SHIPPED if only in (None, operator.word) for crd in crds(operator)]
    click.echo(as_yaml(found), nl=False)
