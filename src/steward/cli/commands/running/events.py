"""`steward events`: shows the events of an object and of everything below it, merged, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.object_tree import KINDS, build_trees
from steward.cli.inspect.options import scope_options, selected_scope
from steward.cli.object_events import (
    NAMED_ALONE,
    ObjectEvent,
    event_cells,
    event_dict,
    find_nodes,
    other_namespaces,
    read_allowed_events,
    read_events,
    select_events,
)
from steward.cli.object_names import complete_names, matches_kind
from steward.cli.output import is_machine_readable, output_option, print_table, print_value
from steward.kube.client.client import Client

POLL_SECONDS = 2.0
_HEADS = ("LAST SEEN", "TYPE", "OBJECT", "REASON", "MESSAGE")
_EPILOG = """\b
Examples:
  steward events db -n shop
  steward events tenant/acme-web -n saas -w
  steward events -A -o json
\b
Exit codes: 0 done, also if there are no events, 1 there is no such object, or the cluster cannot be read.
\b
Kubernetes keeps events for an hour by default. Of a named object, events in other namespaces are shown to users who
may list them there; without a name, -A shows all.
Needs the right to list events (events.k8s.io), the custom resources, and Deployments, ReplicaSets, StatefulSets, Pods
and PersistentVolumeClaims, in the selected namespaces.
"""


@click.command("events", epilog=_EPILOG)
@click.argument("what", required=False, default="", metavar="[[KIND/]NAME]", shell_complete=complete_names)
@click.option("-w", "--watch", is_flag=True, help="Go on and print new events until interrupted.")
@output_option
@scope_options
def command(what: str, watch: bool, output: str, **options: Any) -> None:
    """Show the events of a cluster, registry or Tenant and of everything below it, oldest first.

    Without a name: those of all clusters, registries and their objects."""
    _check_kind(what)
    if watch and is_machine_readable(output):
        raise click.UsageError("--watch prints text: leave -o out")
    source, namespace = selected_scope(options)
    if watch:
        with_client(source, lambda client: _follow(client, namespace, what))
        return
    found = with_client(source, lambda client: _read(client, namespace, what))
    if is_machine_readable(output):
        print_value([event_dict(event) for event in found], output)
    else:
        _print_table(found)


def _check_kind(what: str) -> None:
    kind, slash, name = what.rpartition("/")
    if slash and not (name and any(matches_kind(kind, shown.kind) for shown in KINDS)):
        kinds = ", ".join(shown.kind.lower() for shown in KINDS)
        raise click.UsageError(f"{what} is not NAME or KIND/NAME; kinds are: {kinds}")


async def _read(client: Client, namespace: str, what: str) -> list[ObjectEvent]:
    objects, events = await asyncio.gather(read_objects(client, namespace), read_events(client, namespace))
    nodes = find_nodes(build_trees(objects), what)
    elsewhere = other_namespaces(nodes, namespace) if what and namespace else []
    lists = await asyncio.gather(*(read_allowed_events(client, each) for each in elsewhere))
    if what and not nodes:
        where = f" in namespace {namespace}" if namespace else ""
        kinds = "" if "/" in what else f" {', '.join(NAMED_ALONE[:-1])} or {NAMED_ALONE[-1]}"
        raise click.ClickException(
            f"there is no{kinds} {what}{where}; `{command_line('tree', '-A')}` shows all"
        )
    return select_events(nodes, [*events, *(event for listed in lists for event in listed)])


async def _follow(client: Client, namespace: str, what: str) -> None:
    """Reads again and again instead of watching: objects below come and go, and each brings events of its own."""
    known = await _read(client, namespace, what)
    _print_table(known)
    shown = {(event.uid, event.time) for event in known}
    while True:
        await asyncio.sleep(POLL_SECONDS)
        for event in new_events(await _read(client, namespace, what), shown):
            click.echo("  ".join(event_cells(event)))


def new_events(events: Sequence[ObjectEvent], shown: set[tuple[str, str]]) -> list[ObjectEvent]:
    """Those that are new or have happened again; `shown` has them afterwards."""
    new = [event for event in events if (event.uid, event.time) not in shown]
    shown.update((event.uid, event.time) for event in new)
    return new


def _print_table(events: Sequence[ObjectEvent]) -> None:
    if not events:
        click.echo("No events.")
        return
    print_table(_HEADS, map(event_cells, events))
