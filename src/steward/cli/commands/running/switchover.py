"""`steward switchover`: asks the operator to make another server the primary of a shard, and waits for it."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.operations.outcome import RequestError
from steward.cli.operations.spec_switches import check_not_paused, read_cluster
from steward.cli.primary_switchover import (
    SwitchError,
    read_shards,
    request_switch,
    select_shard,
    shard_label,
    wait_for_primary,
)
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.cache_rules import CLUSTER

_EPILOG = """\b
Examples:
  steward switchover db -n shop
  steward switchover db -n shop --shard postgres/default/0-inf
  steward switchover db -n shop --no-wait
\b
Exit codes: 0 another server is the primary and takes writes (with --no-wait: the operator is asked), 1 there is no
other server, the cluster is paused, the switch was refused, or it took too long: then the request is withdrawn.
\b
Multigres elects the new primary; it cannot be chosen. Interrupting the command does not stop the switch.
Needs the right to get multigresclusters, to list, get and patch shards, and to list events (events.k8s.io).
"""


@click.command("switchover", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.option("--shard", default="", metavar="DB/TABLEGROUP/SHARD", help="The shard. Default: the only one.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds to wait for the new primary.",
)
@click.option("--no-wait", is_flag=True, help="Ask the operator and do not wait.")
@namespace_options
def command(cluster: str, shard: str, timeout: float, no_wait: bool, **options: Any) -> None:
    """Make another server the primary of a shard: gateways hold writes meanwhile, as in a rolling update."""
    source, namespace = selected_namespace(options)
    seconds = None if no_wait else timeout
    with expected_errors(SwitchError, RequestError):
        with_client(source, lambda client: _switch(client, Key(namespace, cluster), shard, seconds))


async def _switch(client: Client, cluster: Key, label: str, seconds: float | None) -> None:
    """Does not wait if `seconds` is None."""
    # The operator would carry out the request when the cluster is resumed, long after the command has given up.
    check_not_paused(Ref(CLUSTER, cluster), await read_cluster(client, cluster))
    shard = select_shard(await read_shards(client, cluster.namespace, cluster.name), cluster.name, label)
    switch = await request_switch(client, shard)
    click.echo(f"{shard_label(shard)}: asked the operator to switch the primary from {switch.previous}")
    if seconds is None:
        return
    primary = await wait_for_primary(
        client, switch, seconds, lambda message: click.echo(f"the operator {message}")
    )
    click.echo(f"{shard_label(shard)}: {primary} is the primary and takes writes")
