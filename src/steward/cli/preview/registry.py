"""Previews the next sync of a registry: runs the code of the operator with an executor that only does dry runs.

Nothing can be written by accident: the write fence of the operator rejects every write of a process that is not the
leader, and every step is a server-side dry run.

The operator accepts missing rows only after a second read a few seconds later. The preview counts one read twice: it
shows the result if the table stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from steward.cli.connection import load_connection_settings, open_transport
from steward.cli.preview.tenant_dry_run import TenantDryRun
from steward.cli.preview.tenant_objects import written_tenants
from steward.cli.preview.text import PreviewEntry
from steward.cli.registry_rows import read_registry, read_rows
from steward.kube.client.client import client_with_transport
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.kinds import CONTROLLER_REVISION, Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.manager.write_fence import WriteFence
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.dry_run import DryRunExecutor, DryRunOutcome, DryRunResult
from steward.runtime.plan.executor import PlanExecutor, PlanResult, StepHooks
from steward.runtime.plan.step_spans import PartNames
from steward.runtime.plan.steps import Plan
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import REGISTRY, TEMPLATE
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.registry.active_templates import ActiveTemplates
from steward.tenants.controllers.registry.state import restore_state
from steward.tenants.controllers.registry.sync import RegistrySyncer
from steward.tenants.controllers.registry.table_reads import FinishedRead, SyncInputs
from steward.tenants.controllers.registry.tenant_writer import TenantWriter
from steward.tenants.controllers.template.active_revision import activation_steps
from steward.tenants.guard.decision import CONFIRMATION_SECONDS
from steward.tenants.sources.reader import SourceEnvironment
from steward.tenants.sources.rows import RowRejection, Rows
from steward.tenants.views import Registry

NAME = "steward-preview"
_LATEST_VERSION = "9223372036854775807"
"""A resourceVersion newer than every cached one."""


class SyncPreview(NamedTuple):
    """The sync to preview: the registry, and changed manifests from files."""

    registry: Key
    environment: SourceEnvironment
    changed: tuple[Manifest, ...] = ()


class PreviewExecutor(PlanExecutor):
    """Does a dry run of every step and records the results; does nothing while `is_quiet`."""

    dry_run: DryRunExecutor
    results: list[DryRunResult]
    is_quiet = False

    async def execute(self, plan: Plan, for_object: Ref) -> PlanResult:
        if not self.is_quiet:
            self.results.extend(await self.dry_run.execute(plan, for_object))
        return PlanResult()


class PreviewManager(Manager):
    def executor(
        self, field_manager: str, hooks: StepHooks | None = None, parts: PartNames | None = None
    ) -> PreviewExecutor:
        executor = PreviewExecutor(self._executor_dependencies, field_manager, hooks, parts)
        executor.dry_run, executor.results = DryRunExecutor(self.client, field_manager), []
        return executor


async def preview_sync(source: ConfigSource, sync: SyncPreview) -> list[PreviewEntry]:
    settings = Settings(namespaces=(sync.registry.namespace,))
    connection = _connection(source)
    manager = PreviewManager(connection, settings)
    try:
        return await _run_sync(manager, settings, sync)
    finally:
        await manager.caches.stop()
        await connection.close()


def _connection(source: ConfigSource) -> Connection:
    """The connection of the operator, but with the transport of verbs, which imports fast."""
    settings, guard, clock = load_connection_settings(source), WriteFence(), SystemClock()
    client = client_with_transport(open_transport(settings, guard.check), settings, clock)
    return Connection(client, client, guard, Metrics(), identity(NAME), settings.namespace, clock)


async def _run_sync(manager: PreviewManager, settings: Settings, sync: SyncPreview) -> list[PreviewEntry]:
    context = TenantsContext(manager, settings)
    syncs = RegistrySyncer(context, ActiveTemplates(context))
    writer = TenantWriter(context)
    registry, spec = await _read_registry(manager.connection, sync)
    rows = await read_rows(manager.client, sync.registry, spec, sync.environment)
    await manager.caches.start()
    await manager.caches.wait_synced()
    for manifest in sync.changed:
        _activate_template(context, manifest)
    executor = context.executor
    assert isinstance(executor, PreviewExecutor)
    now = context.clock.now()
    first = restore_state(registry, TenantWriter(context))
    executor.is_quiet = True
    await syncs.handle_read(
        registry, spec, first, _finished_read(registry, rows, now - 2 * CONFIRMATION_SECONDS)
    )
    executor.is_quiet = False
    second = restore_state(registry, writer)
    second.guard = first.guard
    await syncs.handle_read(registry, spec, second, _finished_read(registry, rows, now))
    objects = TenantDryRun(manager.client, context.documents)
    return [
        *await objects.entries(executor.results),
        *rejected_row_entries(sync.registry, second.writer.rejected_rows.values()),
        *waiting_entries(context.rollouts.statuses, written_tenants(executor.results)),
    ]


def rejected_row_entries(registry: Key, rejected: Iterable[RowRejection]) -> list[PreviewEntry]:
    """Rows whose Tenants could not be written."""
    ref = Ref(REGISTRY, registry)
    return [
        PreviewEntry(DryRunOutcome.REJECTED, ref, message=f"row {each.shown!r}: {each.reason}", counted="row")
        for each in rejected
    ]


def waiting_entries(
    rollouts: Mapping[Key, RolloutStatus | None], written: Mapping[str, int]
) -> list[PreviewEntry]:
    """Tenants that get the template's version later, as maxSkew says. `written` by template: those that get it now."""
    found = []
    for template, status in sorted(rollouts.items()):
        if status is None or status.phase not in ("InProgress", "Failed"):
            continue
        waiting = (
            int(status.total_nodes or 0) - int(status.updated_nodes or 0) - written.get(template.name, 0)
        )
        if waiting > 0:
            found.append(_waiting_entry(Ref(TEMPLATE, template), status, waiting))
    return found


def _waiting_entry(template: Ref, status: RolloutStatus, waiting: int) -> PreviewEntry:
    cause = (
        "until others of the template are ready, as maxSkew says; they get the same change then"
        if status.phase == "InProgress"
        else f"because the rollout has failed: {status.message or 'it reports no reason'}"
    )
    message = f"{waiting} of {status.total_nodes} Tenants wait {cause}"
    return PreviewEntry(DryRunOutcome.DEFERRED, template, message=message, amount=waiting, counted="Tenant")


async def _read_registry(connection: Connection, sync: SyncPreview) -> tuple[Registry, Any]:
    found = next(
        (
            each
            for each in sync.changed
            if each["kind"] == REGISTRY.kind and each["metadata"]["name"] == sync.registry.name
        ),
        None,
    )
    return await read_registry(connection.client, sync.registry, found)


def _finished_read(registry: Registry, rows: Rows, at: float) -> FinishedRead:
    meta = registry.metadata
    return FinishedRead(at, SyncInputs(0, meta.uid, meta.generation, "", None), rows, None)


def _activate_template(context: TenantsContext, manifest: Manifest) -> None:
    """Stores the template in the cache as if it were applied and its revision active."""
    if manifest["kind"] != TEMPLATE.kind:
        return
    templates = context.store(context.rules.template)
    meta = manifest["metadata"]
    live = templates.get(Key(meta["namespace"], meta["name"]))
    latest = {
        **meta,
        "uid": f"new-{meta['name']}" if live is None else live.metadata.uid,
        "generation": 1 if live is None else live.metadata.generation + 1,
        "resourceVersion": _LATEST_VERSION,
    }
    template = {**manifest, "metadata": latest}
    templates.observe_write(msgspec.json.encode(template))
    revisions = context.store(context.rules.revision)
    owner = msgspec.convert(template["metadata"], ObjectMeta)
    for step in activation_steps(revisions, owner, template["spec"]):
        made = getattr(step, "manifest", None)
        if made is not None and made["kind"] == CONTROLLER_REVISION.kind:
            stamped = {**made["metadata"], "uid": f"new-{owner.uid}", "resourceVersion": _LATEST_VERSION}
            revisions.observe_write(msgspec.json.encode({**made, "metadata": stamped}))
