"""`steward hibernate` and `steward wake`: turn `spec.hibernation` of a cluster on and off, and wait for the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from steward.cli.confirm import require_confirmation
from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.operations.outcome import RequestError, wait_until
from steward.cli.operations.spec_switches import (
    HIBERNATION,
    Switch,
    check_changeable,
    check_not_paused,
    is_awake,
    is_hibernated,
    read_cluster,
    set_switch,
)
from steward.kube.client.client import Client
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.multigres.cache_rules import CLUSTER

_EPILOG = """\b
Examples:
  steward hibernate db -n shop
  steward hibernate db -n shop --yes --timeout 300
  steward wake db -n shop
\b
Exit codes: 0 every server has stopped, or serves again (with --no-wait: the spec is changed), 1 there is no such
cluster, it is paused or being deleted, or it took longer than --timeout: then the change of the spec stays.
\b
Needs the right to get and patch multigresclusters.
"""

_no_wait = click.option("--no-wait", is_flag=True, help="Change the spec and do not wait.")
_timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds to wait.",
)


@click.command("hibernate", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_timeout
@_no_wait
@namespace_options
def hibernate(cluster: str, yes: bool, timeout: float, no_wait: bool, **options: Any) -> None:
    """Stop the gateways and Postgres servers of a cluster; volumes, Secrets and Services are kept."""
    source, namespace = selected_namespace(options)
    key = Key(namespace, cluster)
    with expected_errors(RequestError):
        if not yes and not with_client(source, lambda client: _is_set(client, key, _ON)):
            require_confirmation(
                f"Stop {namespace}/{cluster}? No client can connect to it until it is woken."
            )
        _switch(source, key, _ON, None if no_wait else timeout)
    click.echo(
        f"{namespace}/{cluster}: {'is about to hibernate' if no_wait else 'hibernates'}; volumes are kept"
    )
    click.echo(f"`{command_line('wake', cluster, namespace=namespace)}` starts it again.")


@click.command("wake", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@_timeout
@_no_wait
@namespace_options
def wake(cluster: str, timeout: float, no_wait: bool, **options: Any) -> None:
    """Start a hibernated cluster again, on the volumes that it had."""
    source, namespace = selected_namespace(options)
    with expected_errors(RequestError):
        _switch(source, Key(namespace, cluster), _OFF, None if no_wait else timeout)
    click.echo(f"{namespace}/{cluster}: {'is about to start' if no_wait else 'every server serves'}")


_ON, _OFF = Switch(HIBERNATION, True), Switch(HIBERNATION, False)


async def _is_set(client: Client, key: Key, switch: Switch) -> bool:
    return switch.is_set(await read_cluster(client, key))


def _switch(source: ConfigSource, key: Key, switch: Switch, seconds: float | None) -> None:
    is_done = is_hibernated if switch.is_on else is_awake
    with_client(source, lambda client: _change(client, key, switch, is_done, seconds))


async def _change(
    client: Client, key: Key, switch: Switch, is_done: Callable[[Manifest], bool], seconds: float | None
) -> None:
    """Does not wait if `seconds` is None."""
    ref, found = Ref(CLUSTER, key), await read_cluster(client, key)
    check_changeable(ref, found)
    check_not_paused(ref, found)
    if not switch.is_set(found):
        await set_switch(client, ref, found, switch)
    if seconds is not None:
        await wait_until(client, ref, is_done, seconds, click.echo)
