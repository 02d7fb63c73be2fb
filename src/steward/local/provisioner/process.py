"""Runs the provisioner: connects, fills the caches, starts the controllers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from steward.kube.cache.caches import Caches
from steward.kube.client.client import Client, connect
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.transport.transport import TransportOptions
from steward.local.provisioner import directories
from steward.local.provisioner.classes import PROVISIONER
from steward.local.provisioner.controllers import ProvisionerContext, controllers
from steward.local.provisioner.decisions import Placement
from steward.local.provisioner.views import VOLUMES
from steward.runtime.controller.controller import ControllerDependencies, ControllerLoop
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.event_recorder import EventRecorder, Reporter

log = logging.getLogger(__name__)

_USER_AGENT = "steward-volumes"
_STOP_SECONDS = 5.0


@asynccontextmanager
async def running(kubeconfig: Path, placement: Placement) -> AsyncIterator[None]:
    """Provisions volumes while the context is open."""
    async with AsyncExitStack() as undo:
        settings = load_settings(ConfigSource(kubeconfig=str(kubeconfig), environ={}))
        client = await connect(settings, TransportOptions(user_agent=_USER_AGENT))
        undo.push_async_callback(client.close)
        await _start(client, placement, undo)
        yield


async def _start(client: Client, placement: Placement, undo: AsyncExitStack) -> None:
    metrics, caches = Metrics(), Caches(client)
    events = EventRecorder(client, Reporter(PROVISIONER, _USER_AGENT), metrics, SystemClock())
    events.start()
    undo.push_async_callback(events.stop, _STOP_SECONDS)
    declared = controllers(ProvisionerContext(client, caches, events, placement))
    loops = [ControllerLoop(each, ControllerDependencies(caches, metrics)) for each in declared]
    undo.push_async_callback(caches.stop)
    await caches.start()
    await caches.wait_synced()
    known = {volume.metadata.name for volume in caches.store(VOLUMES).list()}
    await asyncio.to_thread(directories.delete_unused, placement.directory, known)
    for loop in loops:
        loop.start()
        undo.push_async_callback(loop.finish, _STOP_SECONDS)
        undo.callback(loop.stop_accepting)
    log.info("provisions volumes in %s", placement.directory)
