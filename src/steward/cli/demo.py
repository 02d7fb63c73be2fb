"""Starts the operators and the sample for `steward up`, and shows their progress."""

from __future__ import annotations

import shutil
import time
from typing import NamedTuple

import click

from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.object_tree import TreeNode, build_trees
from steward.cli.inspect.why import why_message
from steward.cli.next_steps import FormatCommand, next_step_lines
from steward.cli.terminal.live_line import show_progress
from steward.cli.terminal.live_tree import open_screen, terminal_console, watch_until_ready
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local import installation, operators, page_process
from steward.local.containers.node_images import first_node_images
from steward.local.control_plane import ControlPlane
from steward.local.images.availability import missing_images
from steward.local.images.recipes import WORKLOAD_IMAGE
from steward.local.paths import cache_directory
from steward.local.progress import SilentProgress
from steward.local.sample import objects
from steward.local.sample.images import WORKLOAD_PORT, database_images, describe_missing
from steward.local.sample.objects import ContainerImage, Databases, SampleOptions
from steward.local.sample.table import CustomerTable
from steward.local.settings import ControlPlaneSettings, Layout

_NEW_SAMPLE_SECONDS = 600.0
_EXISTING_SAMPLE_SECONDS = 30.0


class DemoTarget(NamedTuple):
    """The control plane that gets the operators and the sample."""

    plane: ControlPlane
    settings: ControlPlaneSettings
    format_command: FormatCommand


async def start_demo(target: DemoTarget) -> bool:
    """Starts operators and sample and shows progress; returns whether everything became ready."""
    client = await _connect(target.plane)
    try:
        options = await _sample_options(target.settings)
        is_new = await _install_demo(client, target, options)
        trees = await _watch_sample(
            client, target.plane, _NEW_SAMPLE_SECONDS if is_new else _EXISTING_SAMPLE_SECONDS
        )
    finally:
        await client.close()
    _print_summary(trees)
    width = shutil.get_terminal_size().columns
    for line in next_step_lines(target.format_command, width, options):
        click.echo(line)
    return all(node.is_healthy for node in trees)


async def remove_operators(plane: ControlPlane) -> None:
    """Stops the page and the operators of an earlier `up`, and deletes their webhook configurations."""
    await page_process.stop(plane)
    had_operators = await operators.stop(plane) or Layout(plane.directory).operators.exists()
    if had_operators:
        client = await _connect(plane)
        try:
            await installation.unregister_webhooks(client)
        finally:
            await client.close()


async def _connect(plane: ControlPlane) -> Client:
    return await connect(load_settings(ConfigSource(kubeconfig=str(plane.kubeconfig), environ={})))


async def _sample_options(settings: ControlPlaneSettings) -> SampleOptions:
    """With containers, the sample has what the nodes have images for."""
    zones = settings.zones[: settings.nodes]
    if settings.containers is None:
        return SampleOptions(zones)
    present = await first_node_images(cache_directory(), SilentProgress())
    missing = missing_images(database_images(), present)
    if missing:
        click.echo(f"The sample has no databases. {describe_missing(missing)}")
    databases = Databases.LEFT_OUT if missing else Databases.INCLUDED
    # One cell: each has gateways and orchestrators of its own, and nodes of one machine share its processors.
    return SampleOptions(zones[:1], ContainerImage(WORKLOAD_IMAGE, WORKLOAD_PORT), databases)


async def _install_demo(client: Client, target: DemoTarget, options: SampleOptions) -> bool:
    settings = target.settings
    with show_progress() as progress:
        CustomerTable(Layout(target.plane.directory).sample).ensure()
        await operators.start(client, target.plane, settings.lifetime, progress)
        if await objects.is_terminating(client):
            progress.report(f"waiting until the deleted namespace {objects.NAMESPACE} is gone")
            await objects.wait_until_deleted(client)
        progress.report("creating the sample")
        return await objects.ensure(client, options)


async def _watch_sample(client: Client, plane: ControlPlane, limit: float) -> tuple[TreeNode, ...]:
    async def read_trees() -> tuple[TreeNode, ...]:
        operators.require_running(plane)
        return tuple(
            node
            for node in build_trees(await read_objects(client, objects.NAMESPACE))
            if node.object.ref.kind.kind != "TenantTemplate"
        )

    with open_screen(terminal_console()) as screen:
        return await watch_until_ready(read_trees, screen, limit)


def _print_summary(trees: tuple[TreeNode, ...]) -> None:
    click.echo()
    for node in trees:
        click.echo(why_message(node, time.time()))
    click.echo()
