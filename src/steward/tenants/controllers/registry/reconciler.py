"""The TenantRegistry controller: reads the table, asks the guard, writes Tenants, and reports their counts.

A read runs in the background and wakes its registry when it has finished. All other reconciles, above all those that
count ready Tenants, do not query the database.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, Final

from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import child, own_object
from steward.runtime.controller.triggers import Channel, For, Watches
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.plan.finalizers import add_finalizer, remove_finalizer
from steward.runtime.plan.steps import Emit, EventType, Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.runtime.status.stall_reporter import stall_message
from steward.tenants import labels, reasons
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.common.cascade_guard import CascadeRequest, decide_cascade
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.debounce import ReconcileDebounce
from steward.tenants.controllers.common.migration import remove_owner_steps
from steward.tenants.controllers.registry.active_templates import ActiveTemplates
from steward.tenants.controllers.registry.first_rows import FirstRows
from steward.tenants.controllers.registry.recorded_tenants import RecordedTenants
from steward.tenants.controllers.registry.source_credentials import CredentialWatches, referenced_secrets
from steward.tenants.controllers.registry.state import RegistryState, restore_state
from steward.tenants.controllers.registry.sync import RegistrySyncer
from steward.tenants.controllers.registry.table_reads import SyncInputs, TableReads
from steward.tenants.controllers.registry.tenant_writer import TenantWriter, WritePacing
from steward.tenants.fleet.fleet import registry_index_value, registry_index_values
from steward.tenants.sources.factory import open_reader
from steward.tenants.sources.limits import table_bytes
from steward.tenants.sources.reader import SourceEnvironment
from steward.tenants.sources.rows import Rows, registry_columns
from steward.tenants.status.conditions import previous_stall, read_conditions
from steward.tenants.status.pause import MESSAGE, is_paused, is_reported, paused_status
from steward.tenants.status.registry import RegistryObservation, registry_status, warning_events
from steward.tenants.validation.registry import parse_registry
from steward.tenants.views import Registry, Revision, Template, Tenant, TenantSecret

log = logging.getLogger(__name__)

BY_LABEL: Final = "label of a registry"
MAX_REQUEST_LENGTH: Final = 100
PROGRESS_SECONDS: Final = 2.0
"""How often the status is written while Tenants are being written: for thousands of rows that takes minutes."""


class RegistryReconciler:
    def __init__(self, context: TenantsContext) -> None:
        settings = context.settings
        self.context = context
        self.registries = context.store(context.rules.registry)
        self.registries.add_index(BY_LABEL, _label_index_values)
        self.fleets = context.fleets
        self.tenants = self.fleets.tenants
        self.templates = ActiveTemplates(context)
        self._channel = Channel()
        self.table_reads = TableReads(context.clock, self._channel.enqueue)
        self.credentials = CredentialWatches(context.client, self._channel.enqueue)
        self.syncer = RegistrySyncer(context, self.templates, self._is_current)
        root = Path(settings.sqlite_root) if settings.sqlite_root else None
        self.environment = SourceEnvironment(root, Redirect(settings.connect_to), table_bytes())
        self._debounce = ReconcileDebounce(context.clock)
        self.tenants.subscribe(context.backlog.on_change)
        self.first_rows = FirstRows(self.registries, context.backlog)
        self._pacing = WritePacing(context.backlog, self.first_rows, RecordedTenants(self.tenants))
        self._states: dict[Key, RegistryState] = {}

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "registry",
            self,
            (
                For(rules.registry, when=own_object(labels.APPROVE_DELETION, labels.SYNC_REQUEST)),
                Watches(rules.template, to=_registry_of_template),
                Watches(rules.revision, to=self._registry_of_revision),
                Watches(rules.every_tenant, to=self._registry_of_tenant),
                Watches(rules.secret, to=self._registry_of_values, when=child),
            ),
            workers=self.context.settings.registry_concurrency,
            channel=self._channel,
        )

    def _registry_of_revision(self, revision: Revision) -> Iterable[Key]:
        owners = {owner.name for owner in revision.metadata.owner_references}
        store = self.context.store(self.context.rules.template)
        found = (store.get(Key(revision.metadata.namespace, name)) for name in owners)
        return [key for template in found if template is not None for key in _registry_of_template(template)]

    def _registry_of_tenant(self, tenant: Tenant) -> Iterable[Key]:
        """By the registry label, which is a hash if the name is too long for a label."""
        found = [
            registry
            for value in registry_index_values(tenant)
            for registry in self.registries.by_index(BY_LABEL, value)
        ]
        return [key_of(registry) for registry in found]

    def _registry_of_values(self, secret: TenantSecret) -> Iterable[Key]:
        tenant = self.fleets.tenant_of_values(secret)
        return () if tenant is None else self._registry_of_tenant(tenant)

    async def reconcile(self, key: Key) -> Result:
        registry = self.registries.get(key)
        if registry is None:
            return await self._forget(key)
        if registry.metadata.deletion_timestamp is not None:
            return await self._reconcile_deletion(registry)
        state = self._state_of(registry)
        wait = self._debounce.seconds_to_wait(key, (registry.metadata.uid, registry.metadata.generation))
        if wait and not self._is_urgent(registry, state):
            return RequeueAfter(wait)
        try:
            return await self._reconcile(registry, state)
        finally:
            if not self.table_reads.is_pending(key):
                self.first_rows.finish(key)

    async def _reconcile(self, registry: Registry, state: RegistryState) -> Result:
        """Migrate, sync, start a read, report."""
        key = key_of(registry)
        if not is_paused(registry.spec):
            await self._remove_former_owners(key)
        spec, problems = parse_registry(registry)
        if spec is None:
            await self._report(registry, self._observe(registry, state)._replace(problems=problems))
            return DONE
        if is_paused(registry.spec):
            return await self._report_pause(registry)
        plan = add_finalizer(Ref(REGISTRY, key), registry.metadata, labels.REGISTRY_FINALIZER)
        await self._execute(plan, key)
        sync = self._sync(registry, spec, state)
        await run_with_progress(sync, lambda: self._report_progress(key, state), PROGRESS_SECONDS)
        await self._read_if_due(registry, spec, state)
        await self._report(registry, self._observe(registry, state))
        if state.write_failure is not None:
            # The backoff for a Tenant that cannot be written must not delay the read that may find its row changed.
            self.table_reads.wake_after(key, state.next_sync - self.context.clock.monotonic())
            raise state.write_failure
        return self._next_reconcile(state)

    async def _report_pause(self, registry: Registry) -> Result:
        """A read that runs is dropped; the end of the pause starts another one."""
        key, ref = key_of(registry), Ref(REGISTRY, key_of(registry))
        self.table_reads.forget(key)
        status = paused_status(registry.status, registry.metadata.generation, self.context.now())
        event = () if is_reported(registry.status) else (Emit(ref, reasons.PAUSED, MESSAGE),)
        await self._execute((*event, Status(ref, status)), key)
        return DONE

    async def _remove_former_owners(self, key: Key) -> None:
        """One step at a time, at every reconcile: a Tenant that cannot be written does not affect the others."""
        for step in remove_owner_steps(self.fleets.owned_tenants_of(key)):
            try:
                await self._execute((step,), key)
            except KubeError as error:
                log.warning(
                    "the owner reference that the Go operator set on a Tenant could not be removed: %s", error
                )

    async def _sync(self, registry: Registry, spec: TenantRegistrySpec, state: RegistryState) -> None:
        """Only with rows that were read for this spec, never with those of another."""
        inputs = self._inputs(registry)
        finished = self.table_reads.take_finished(key_of(registry))
        if state.inputs is not None and not state.inputs.reads_same_table(inputs):
            state.pending_rows = state.write_failure = state.in_progress = None
        if finished is not None and finished.inputs.reads_same_table(inputs):
            await self.syncer.handle_read(registry, spec, state, finished)
        elif state.pending_rows is not None:
            await self.syncer.write_tenants(registry, spec, state, state.pending_rows)

    async def _report_progress(self, key: Key, state: RegistryState) -> None:
        registry = self.registries.get(key)
        if registry is None or registry.metadata.deletion_timestamp is not None:
            return
        try:
            await self._report(registry, self._observe(registry, state))
        except KubeError as error:
            log.warning("the counts of a registry could not be written: %s", error)

    def _is_current(self, key: Key, state: RegistryState) -> bool:
        """Whether the inputs of the last read are unchanged."""
        registry, inputs = self.registries.get(key), state.inputs
        if registry is None or inputs is None:
            return False
        return inputs.makes_same_tenants(self._inputs(registry))

    def _state_of(self, registry: Registry) -> RegistryState:
        key = key_of(registry)
        state = self._states.get(key)
        if state is None or state.uid != registry.metadata.uid:
            state = self._states[key] = restore_state(registry, TenantWriter(self.context, self._pacing))
        return state

    async def _forget(self, key: Key) -> Result:
        self._states.pop(key, None)
        self._debounce.forget(key)
        self.table_reads.forget(key)
        await self.credentials.watch_secrets(key, frozenset())
        return DONE

    def _is_urgent(self, registry: Registry, state: RegistryState) -> bool:
        key = key_of(registry)
        return self.table_reads.is_finished(key) or self._is_due(registry, state)

    def _is_due(self, registry: Registry, state: RegistryState) -> bool:
        key = key_of(registry)
        if self.table_reads.is_pending(key):
            return False
        if state.next_sync <= self.context.clock.monotonic() or state.inputs != self._inputs(registry):
            return True
        used = state.secret_versions
        return used is not None and used != self.credentials.versions_for(key)

    def _inputs(self, registry: Registry) -> SyncInputs:
        meta = registry.metadata
        return SyncInputs(
            term=self.context.manager.leadership_term,
            uid=meta.uid,
            generation=meta.generation,
            approval=meta.annotations.get(labels.APPROVE_DELETION, ""),
            templates=self.templates.version(key_of(registry)),
            request=meta.annotations.get(labels.SYNC_REQUEST, "")[:MAX_REQUEST_LENGTH],
        )

    async def _read_if_due(self, registry: Registry, spec: TenantRegistrySpec, state: RegistryState) -> None:
        key = key_of(registry)
        await self.credentials.watch_secrets(key, referenced_secrets(spec.source, key.namespace))
        if self._is_due(registry, state) or self._has_drifted(key, state):
            self.table_reads.start(key, self._inputs(registry), lambda: self._read(spec, key, state))

    def _has_drifted(self, key: Key, state: RegistryState) -> bool:
        return not self.table_reads.is_pending(key) and state.writer.has_drifted(self.fleets.version(key))

    async def _read(self, spec: TenantRegistrySpec, key: Key, state: RegistryState) -> Rows:
        try:
            credentials = await self.credentials.read(spec.source, key.namespace)
        finally:
            state.secret_versions = self.credentials.versions_for(key)
        source = open_reader(spec.source, credentials, self.environment)
        return await source.read(registry_columns(spec))

    def _observe(self, registry: Registry, state: RegistryState) -> RegistryObservation:
        meta = registry.metadata
        templates = self.templates.templates_of(key_of(registry))
        sizes = self.fleets.sizes(key_of(registry))
        missing = self.templates.missing(meta.namespace, sizes.by_template)
        return RegistryObservation(
            meta,
            templates=sum(each.metadata.deletion_timestamp is None for each in templates),
            active_rows=state.active_rows,
            inactive_rows=state.inactive_rows,
            counts=sizes.counts,
            tenants_without_template={
                name: count for name, count in sizes.by_template.items() if name in missing
            },
            rejected=state.rejected,
            rejected_rows=len(state.rejected),
            hold=state.guard.hold,
            source_problem=state.source_problem,
            write_problem=str(state.write_failure or ""),
            stall=current_stall(registry, state),
            last_sync=state.last_sync,
            last_duration=state.last_duration,
            last_request=state.last_request,
        )

    async def _report(self, registry: Registry, observation: RegistryObservation) -> None:
        key = key_of(registry)
        ref = Ref(REGISTRY, key)
        status = registry_status(observation, registry.status, self.context.now())
        events = (
            Emit(ref, reason, message, EventType.WARNING)
            for reason, message in warning_events(observation, read_conditions(registry.status))
        )
        await self._execute((*events, *self._deletion_events(registry), Status(ref, status)), key)

    def _deletion_events(self, registry: Registry) -> Plan:
        """For Tenants that the operator deleted and that no longer exist."""
        meta = registry.metadata
        state = self._states.get(key_of(registry))
        if state is None or not state.deleting:
            return ()
        gone = [name for name in sorted(state.deleting) if not self.tenants.get(Key(meta.namespace, name))]
        state.deleting.difference_update(gone)
        ref = Ref(REGISTRY, key_of(registry))
        return tuple(Emit(ref, reasons.TENANT_DELETED, f"Tenant {name} is deleted") for name in gone)

    def _next_reconcile(self, state: RegistryState) -> Result:
        pauses = [state.next_sync - self.context.clock.monotonic()]
        if state.recheck_at is not None and state.pending_rows is not None:
            pauses.append(state.recheck_at - self.context.clock.now())
        return RequeueAfter(max(0.01, min(pauses)))

    async def _execute(self, plan: Plan, key: Key) -> None:
        if plan:
            await self.context.executor.execute(plan, Ref(REGISTRY, key))

    async def _reconcile_deletion(self, registry: Registry) -> Result:
        """The deletion guard decides; the finalizer is removed when no Tenant is left."""
        meta, key = registry.metadata, key_of(registry)
        self.table_reads.forget(key)
        if labels.REGISTRY_FINALIZER not in meta.finalizers:
            return DONE
        fleet = self.fleets.tenants_of(key)
        if not fleet:
            await self._execute(remove_finalizer(Ref(REGISTRY, key), meta, labels.REGISTRY_FINALIZER), key)
            return DONE
        approval = meta.annotations.get(labels.APPROVE_DELETION, "")
        previous = read_conditions(registry.status)
        request = CascadeRequest(Ref(REGISTRY, key), fleet, fleet, registry.spec, approval, previous)
        cascade = decide_cascade(request)
        state = self._state_of(registry)
        state.guard = state.guard._replace(hold=cascade.hold)
        observation = self._observe(registry, state)
        observation = observation._replace(is_released=cascade.is_released, stall=cascade.stall)
        await self._report(registry, observation)
        await self._execute(cascade.plan, key)
        return DONE


async def run_with_progress(
    work: Coroutine[Any, Any, None], report: Callable[[], Awaitable[None]], seconds: float
) -> None:
    """Awaits the work, and calls `report` every so many seconds until it ends. If this is cancelled, so is the work."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({task}, timeout=seconds))[0]:
            await report()
    finally:
        task.cancel()
        await asyncio.wait({task})
    task.result()


def current_stall(registry: Registry, state: RegistryState) -> str:
    """That of the last sync; until a sync has completed, that of the previous status."""
    if state.next_sync == 0.0:
        return previous_stall(read_conditions(registry.status))
    return stall_message(state.write_failure)


def _label_index_values(registry: Registry) -> list[str]:
    return [registry_index_value(registry.metadata.namespace, registry.metadata.name)]


def _registry_of_template(template: Template) -> list[Key]:
    return [Key(template.metadata.namespace, str(template.spec.get("registryId", "")))]
