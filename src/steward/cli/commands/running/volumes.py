"""`steward volumes`: lists the volume claims of clusters, and those that are kept without a server."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import with_cluster_options
from steward.cli.inspect.options import scope_options, selected_scope
from steward.cli.object_names import ObjectName
from steward.cli.output import (
    WIDE,
    echo_wrapped,
    is_machine_readable,
    output_option,
    print_table,
    print_value,
)
from steward.cli.volume_claims import (
    VolumeClaim,
    claim_dict,
    kept_lines,
    read_cluster_objects,
    volume_claims,
)

_EPILOG = """\b
Examples:
  steward volumes -A
  steward volumes db -n shop -o wide
  steward volumes -n shop -o json
\b
Exit codes: 0 done, 1 the cluster cannot be read.
\b
Deletes nothing: it prints the commands that do. Claims are found by the label multigres.com/cluster.
Needs the right to list multigresclusters, PersistentVolumeClaims, Pods and StatefulSets in the selected namespaces.
"""


@click.command("volumes", epilog=_EPILOG)
@click.argument(
    "cluster", type=ObjectName("MultigresCluster"), required=False, default="", metavar="[CLUSTER]"
)
@output_option
@scope_options
def command(cluster: str, output: str, **options: Any) -> None:
    """List volume claims of clusters: the server that uses each, the size asked for and had, and claims kept without
    a server, also of clusters that are gone."""
    source, namespace = selected_scope(options)
    objects = with_client(source, lambda client: read_cluster_objects(client, namespace, cluster))
    claims = volume_claims(objects)
    if is_machine_readable(output):
        print_value([claim_dict(claim) for claim in claims], output)
    elif claims:
        _print_claims(claims, output)
    else:
        click.echo("No volume claims.")


def _print_claims(claims: list[VolumeClaim], output: str) -> None:
    heads = ["NAMESPACE", "CLUSTER", "CLAIM", "SERVER", "ASKED", "HAS", "STATE"]
    rows = [_cells(claim) for claim in claims]
    if output == WIDE:
        heads += ["CLASS", "BELONGS TO"]
        rows = [[*row, *_wide_cells(claim)] for row, claim in zip(rows, claims, strict=True)]
    print_table(heads, rows)
    for line in kept_lines(claims):
        echo_wrapped(with_cluster_options(line))


def _cells(claim: VolumeClaim) -> list[str]:
    cluster = claim.cluster if claim.has_cluster else f"{claim.cluster} (gone)"
    cells = [
        claim.key.namespace,
        cluster,
        claim.key.name,
        claim.server,
        claim.asked,
        claim.had,
        claim.state.value,
    ]
    return [cell or "-" for cell in cells]


def _wide_cells(claim: VolumeClaim) -> list[str]:
    parts = ", ".join(f"{name} {value}" for name, value in claim.parts.items())
    return [claim.storage_class or "-", parts or "-"]
