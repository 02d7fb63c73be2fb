"""What the next sync of a registry would do: the operator's own code, with a carrier that only asks.

Nothing can be written by accident: the client has the operator's guard, which lets no write pass in a process that does
not lead, and every question is a dry run of the server.

Rows that are missing are believed when a second read agrees, a few seconds later. Here the same read counts twice:
what is foreseen is what comes of the table if it stays as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from steward.cli.connection import messenger_to, settings_for
from steward.cli.registry_rows import read_registry, read_rows
from steward.kube.client.client import client_over
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.kinds import CONTROLLER_REVISION, Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.manager.write_fence import WriteGuard
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.dry_run import DryRunCarrier, Foreseen
from steward.runtime.plan.executor import PlanExecutor, PlanResult, StepHooks
from steward.runtime.plan.steps import Plan
from steward.tenants.cache_rules import REGISTRY, TEMPLATE
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.registry.active_templates import TemplatesInUse
from steward.tenants.controllers.registry.state import recalled
from steward.tenants.controllers.registry.sync import Syncs
from steward.tenants.controllers.registry.table_reads import Finished, Inputs
from steward.tenants.controllers.registry.tenant_writer import FleetWriter
from steward.tenants.controllers.template.active_revision import put_in_force
from steward.tenants.guard.judge import CONFIRMATION_SECONDS
from steward.tenants.sources.rows import Rows
from steward.tenants.sources.source import Surroundings
from steward.tenants.views import Registry

NAME = "steward-preview"
_AFTER_ALL = "9223372036854775807"
"""A version that no cache takes for older than what it has."""


class Sync(NamedTuple):
    """Which sync to foresee: of which registry, and with which objects as a file has them."""

    registry: Key
    around: Surroundings
    changed: tuple[Manifest, ...] = ()


class AskingCarrier(PlanExecutor):
    """Asks the server about every step, and keeps what it said. Told to be quiet, it asks nothing."""

    asks: DryRunCarrier
    foreseen: list[Foreseen]
    is_quiet = False

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        if not self.is_quiet:
            self.foreseen.extend(await self.asks.execute(plan, cause))
        return PlanResult()


class AskingManager(Manager):
    def executor(self, field_manager: str, hooks: StepHooks | None = None) -> AskingCarrier:
        made = AskingCarrier(self._reach, field_manager, hooks)
        made.asks, made.foreseen = DryRunCarrier(self.client, field_manager), []
        return made


async def foreseen_sync(source: ConfigSource, sync: Sync) -> list[Foreseen]:
    settings = Settings(namespaces=(sync.registry.namespace,))
    connection = _connection(source)
    manager = AskingManager(connection, settings)
    try:
        return await _foresee(manager, settings, sync)
    finally:
        await manager.caches.stop()
        await connection.close()


def _connection(source: ConfigSource) -> Connection:
    """As the operator's, but for what carries its requests: that of verbs, which is there at once."""
    found, guard, clock = settings_for(source), WriteGuard(), SystemClock()
    client = client_over(messenger_to(found, guard.check), found, clock)
    return Connection(client, client, guard, Metrics(), identity(NAME), found.namespace, clock)


async def _foresee(manager: AskingManager, settings: Settings, sync: Sync) -> list[Foreseen]:
    context = ControllerContext(manager, settings)
    syncs = Syncs(context, TemplatesInUse(context))
    writer = FleetWriter(context)
    registry, spec = await _registry(manager.connection, sync)
    rows = await read_rows(manager.client, sync.registry, spec, sync.around)
    await manager.caches.start()
    await manager.caches.wait_synced()
    for manifest in sync.changed:
        _put(context, manifest)
    executor = context.executor
    assert isinstance(executor, AskingCarrier)
    now = context.clock.now()
    first = recalled(registry, FleetWriter(context))
    executor.is_quiet = True
    await syncs.take_in(registry, spec, first, _finished(registry, rows, now - 2 * CONFIRMATION_SECONDS))
    executor.is_quiet = False
    second = recalled(registry, writer)
    second.guard = first.guard
    await syncs.take_in(registry, spec, second, _finished(registry, rows, now))
    return executor.foreseen


async def _registry(connection: Connection, sync: Sync) -> tuple[Registry, Any]:
    found = next(
        (
            each
            for each in sync.changed
            if each["kind"] == REGISTRY.kind and each["metadata"]["name"] == sync.registry.name
        ),
        None,
    )
    return await read_registry(connection.client, sync.registry, found)


def _finished(registry: Registry, rows: Rows, at: float) -> Finished:
    meta = registry.metadata
    return Finished(at, Inputs(None, meta.uid, meta.generation, "", None), rows, None)


def _put(context: ControllerContext, manifest: Manifest) -> None:
    """As if it had been applied, and its content were in force."""
    if manifest["kind"] != TEMPLATE.kind:
        return
    templates = context.store(context.rules.template)
    meta = manifest["metadata"]
    living = templates.get(Key(meta["namespace"], meta["name"]))
    latest = {
        **meta,
        "uid": f"new-{meta['name']}" if living is None else living.metadata.uid,
        "generation": 1 if living is None else living.metadata.generation + 1,
        "resourceVersion": _AFTER_ALL,
    }
    template = {**manifest, "metadata": latest}
    templates.observe(msgspec.json.encode(template))
    revisions = context.store(context.rules.revision)
    owner = msgspec.convert(template["metadata"], ObjectMeta)
    for step in put_in_force(revisions, owner, template["spec"]):
        made = getattr(step, "manifest", None)
        if made is not None and made["kind"] == CONTROLLER_REVISION.kind:
            stamped = {**made["metadata"], "uid": f"new-{owner.uid}", "resourceVersion": _AFTER_ALL}
            revisions.observe(msgspec.json.encode({**made, "metadata": stamped}))
