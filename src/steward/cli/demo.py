"""The first five minutes, after the control plane: operators, a sample, and a picture of it growing."""

from __future__ import annotations

import shutil
import time
from typing import NamedTuple

import click

from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.object_tree import Branch, families
from steward.cli.inspect.why import why
from steward.cli.next_steps import Call, told
from steward.cli.terminal.live_line import progress_shown
from steward.cli.terminal.live_tree import screen_for, terminal, watch_growth
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local import installation, operators
from steward.local.control_plane import ControlPlane
from steward.local.sample import objects
from steward.local.sample.table import Customers
from steward.local.settings import ControlPlaneSettings, Layout

_NEW_SECONDS = 600.0
_KNOWN_SECONDS = 30.0


class Arrival(NamedTuple):
    """A control plane that has just become ready."""

    plane: ControlPlane
    settings: ControlPlaneSettings
    call: Call


async def furnish(arrival: Arrival) -> bool:
    """Operators and sample, shown until they are ready; whether all of it is."""
    client = await _client(arrival.plane)
    try:
        is_new = await _move_in(client, arrival)
        branches = await _watch(client, arrival.plane, _NEW_SECONDS if is_new else _KNOWN_SECONDS)
    finally:
        await client.close()
    _sum_up(branches)
    for line in told(arrival.call, shutil.get_terminal_size().columns):
        click.echo(line)
    return all(branch.is_well for branch in branches)


async def leave_bare(plane: ControlPlane) -> None:
    """Only Kubernetes: operators of an earlier `up` end, and with them what the API server knows of their webhooks."""
    was_furnished = await operators.stop(plane) or Layout(plane.directory).operators.exists()
    if was_furnished:
        client = await _client(plane)
        try:
            await installation.unregister(client)
        finally:
            await client.close()


async def _client(plane: ControlPlane) -> Client:
    return await connect(load_settings(ConfigSource(kubeconfig=str(plane.kubeconfig), environ={})))


async def _move_in(client: Client, arrival: Arrival) -> bool:
    settings = arrival.settings
    with progress_shown() as progress:
        Customers(Layout(arrival.plane.directory).sample).ensure()
        await operators.start(client, arrival.plane, settings.lifetime, progress)
        progress.report("making the sample")
        return await objects.ensure(client, settings.zones[: settings.nodes])


async def _watch(client: Client, plane: ControlPlane, limit: float) -> tuple[Branch, ...]:
    async def look() -> tuple[Branch, ...]:
        operators.require_running(plane)
        return tuple(
            branch
            for branch in families(await read_objects(client, objects.NAMESPACE))
            if branch.member.ref.kind.kind != "TenantTemplate"
        )

    with screen_for(terminal()) as screen:
        return await watch_growth(look, screen, limit)


def _sum_up(branches: tuple[Branch, ...]) -> None:
    click.echo()
    for branch in branches:
        click.echo(why(branch, time.time()))
    click.echo()
