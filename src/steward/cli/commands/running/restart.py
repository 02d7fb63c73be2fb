"""`steward restart`: restarts the servers or another component of a cluster, and waits until all are ready again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from steward.cli.confirm import require_confirmation
from steward.cli.connection import with_client
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.operations.deployment_restarts import (
    COMPONENTS,
    read_deployments,
    restart_deployments,
    wait_for_rollout,
)
from steward.cli.operations.outcome import RequestError
from steward.cli.operations.server_restarts import (
    ServerRestart,
    read_restarts,
    request_restart,
    restart_value,
    wait_for_restart,
)
from steward.cli.operations.spec_switches import check_changeable, check_not_paused, read_cluster
from steward.kube.client.client import Client
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.cache_rules import CLUSTER

SERVERS = "servers"
_EPILOG = """\b
Examples:
  steward restart db -n shop
  steward restart db -n shop --pool main --shard postgres/default/0-inf
  steward restart db multigateway -n shop --no-wait
\b
Exit codes: 0 everything has restarted and is ready (with --no-wait: it is requested), 1 there is nothing to restart,
the cluster is paused, the operator has stopped because a server does not become ready, or it took longer than
--timeout: the operator goes on.
\b
Servers restart as in every rolling change: one of a shard at a time, the primary last and after a switch. A shard of
one server does not serve meanwhile.
Needs the right to get multigresclusters; for servers to list, get and patch shards and to list pods; for other
components to list, get and patch deployments.
"""


@click.command("restart", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.argument("part", type=click.Choice([SERVERS, *COMPONENTS]), required=False, default=SERVERS)
@click.option("--pool", default="", help="Only servers of this pool.")
@click.option("--shard", default="", metavar="DB/TABLEGROUP/SHARD", help="Only servers of this shard.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=1800.0,
    show_default=True,
    help="Seconds to wait.",
)
@click.option("--no-wait", is_flag=True, help="Request it and do not wait.")
@namespace_options
def command(
    *,
    cluster: str,
    part: str,
    pool: str,
    shard: str,
    yes: bool,
    timeout: float,
    no_wait: bool,
    **options: Any,
) -> None:
    """Restart the Postgres servers of a cluster, or the pods of another component, without changing anything."""
    if part != SERVERS and (pool or shard):
        raise click.UsageError("--pool and --shard choose servers: leave them out for another component")
    source, namespace = selected_namespace(options)
    key, seconds = Key(namespace, cluster), None if no_wait else timeout
    with expected_errors(RequestError):
        with_client(source, lambda client: _check(client, key))
        if part == SERVERS:
            _restart_servers(source, _read_restarts(source, key, shard, pool, is_confirmed=yes), seconds)
        else:
            _restart_component(source, key, part, seconds)


async def _check(client: Client, key: Key) -> None:
    ref, found = Ref(CLUSTER, key), await read_cluster(client, key)
    check_changeable(ref, found)
    check_not_paused(ref, found)


def _value() -> str:
    return restart_value(datetime.now(UTC))


def _read_restarts(
    source: ConfigSource, cluster: Key, shard: str, pool: str, *, is_confirmed: bool
) -> tuple[ServerRestart, ...]:
    restarts = with_client(source, lambda client: read_restarts(client, cluster, shard, pool, _value()))
    if not is_confirmed:
        for each in restarts:
            click.echo(each.describe_effect())
        require_confirmation("Restart them?")
    return restarts


def _restart_servers(
    source: ConfigSource, restarts: tuple[ServerRestart, ...], seconds: float | None
) -> None:
    """All shards at once: each replaces one server at a time."""

    async def restart(client: Client) -> None:
        for each in restarts:
            await request_restart(client, each)
            click.echo(f"asked the operator to restart {each.describe()}")
        for each in restarts:
            if seconds is not None:
                await wait_for_restart(client, each, seconds, click.echo)
                click.echo(f"restarted {each.describe()}")

    with_client(source, restart)


def _restart_component(source: ConfigSource, cluster: Key, component: str, seconds: float | None) -> None:
    async def restart(client: Client) -> None:
        deployments = await read_deployments(client, cluster, component)
        await restart_deployments(client, deployments, _value())
        if seconds is not None:
            await wait_for_rollout(client, deployments, seconds, click.echo)

    with_client(source, restart)
    if seconds is None:
        click.echo(f"asked Kubernetes to restart {component} of {cluster}")
