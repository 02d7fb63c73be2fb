"""TenantRegistry: reads the table, asks the guard, makes its rows into Tenants, and says how many there are.

A read runs beside the reconciles and wakes its registry when it has ended. All else, above all the status of Tenants,
is looked at without asking the database anything.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.runtime.controller.controller import Controller, ControllerLoop
from steward.runtime.controller.predicates import child, own_object
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.controller.workqueue import Lane
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.plan.steps import Emit, EventType, Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.tenants import labels, reasons
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.common.cascade_guard import Departure, departing
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.common.debounce import Moments
from steward.tenants.controllers.common.finalizers import held_by, let_go
from steward.tenants.controllers.common.migration import without_former_owner
from steward.tenants.controllers.registry.active_templates import TemplatesInUse
from steward.tenants.controllers.registry.meanwhile import telling_meanwhile
from steward.tenants.controllers.registry.source_credentials import CredentialWatches, secrets_of
from steward.tenants.controllers.registry.state import RegistryMemory, recalled
from steward.tenants.controllers.registry.sync import Syncs
from steward.tenants.controllers.registry.table_reads import Inputs, Readings
from steward.tenants.controllers.registry.tenant_writer import FleetWriter
from steward.tenants.fleet.fleet import registry_of, registry_value
from steward.tenants.sources.factory import open_source
from steward.tenants.sources.rows import Rows, columns_of
from steward.tenants.sources.source import Surroundings
from steward.tenants.status.conditions import conditions_of
from steward.tenants.status.registry import RegistryState, registry_status, warnings
from steward.tenants.validation.registry import typed
from steward.tenants.views import Registry, Revision, Template, Tenant

log = logging.getLogger(__name__)

LABEL: Final = "label of a registry"
TELL_SECONDS: Final = 2.0
"""How often counts are told while Tenants are being written: for a table of thousands that takes minutes."""


class RegistryReconciler:
    def __init__(self, context: ControllerContext) -> None:
        settings = context.settings
        self.context = context
        self.registries = context.store(context.rules.registry)
        self.registries.add_index(LABEL, _label_of)
        self.fleets = context.fleets
        self.tenants = self.fleets.tenants
        self.templates = TemplatesInUse(context)
        self.readings = Readings(context.clock, self._wake)
        self.credentials = CredentialWatches(context.client, self._wake)
        self.syncs = Syncs(context, self.templates, self._is_current)
        root = Path(settings.sqlite_root) if settings.sqlite_root else None
        self.surroundings = Surroundings(root, Redirect(settings.connect_to))
        self._moments = Moments(context.clock)
        self._memories: dict[Key, RegistryMemory] = {}
        self._loop: ControllerLoop | None = None

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "registry",
            self,
            (
                For(rules.registry, when=own_object(labels.APPROVE_DELETION)),
                Watches(rules.template, to=_registry_of_template),
                Watches(rules.revision, to=self._registry_of_revision),
                Watches(rules.every_tenant, to=self._registry_of_tenant),
                Watches(rules.secret, to=self._registry_of_values, when=child),
            ),
            workers=self.context.settings.registry_concurrency,
        )

    def listen_to(self, loop: ControllerLoop) -> None:
        self._loop = loop

    def _wake(self, key: Key) -> None:
        if self._loop is not None:
            self._loop.queue.add(key, Lane.FAST)

    def _registry_of_revision(self, revision: Revision) -> Iterable[Key]:
        owners = {owner.name for owner in revision.metadata.owner_references}
        store = self.context.store(self.context.rules.template)
        found = (store.get(Key(revision.metadata.namespace, name)) for name in owners)
        return [key for template in found if template is not None for key in _registry_of_template(template)]

    def _registry_of_tenant(self, tenant: Tenant) -> Iterable[Key]:
        """Found by its label, which may be the hash of a name that no label can hold."""
        found = [
            registry for value in registry_of(tenant) for registry in self.registries.by_index(LABEL, value)
        ]
        return [Key(registry.metadata.namespace, registry.metadata.name) for registry in found]

    def _registry_of_values(self, secret: Metadata) -> Iterable[Key]:
        tenant = self.fleets.tenant_with(secret)
        return () if tenant is None else self._registry_of_tenant(tenant)

    async def reconcile(self, key: Key) -> Result:
        registry = self.registries.get(key)
        if registry is None:
            return await self._forget(key)
        if registry.metadata.deletion_timestamp is not None:
            return await self._farewell(registry)
        memory = self._memory(registry)
        wait = self._moments.wait(key, (registry.metadata.uid, registry.metadata.generation))
        if wait and not self._is_urgent(registry, memory):
            return RequeueAfter(wait)
        return await self._look(registry, memory)

    async def _look(self, registry: Registry, memory: RegistryMemory) -> Result:
        meta = registry.metadata
        key = Key(meta.namespace, meta.name)
        await self._disown(key)
        spec, problems = typed(registry)
        if spec is None:
            await self._report(registry, self._state(registry, memory)._replace(problems=problems))
            return DONE
        await self._carry_out(held_by(Ref(REGISTRY, key), meta, labels.REGISTRY_FINALIZER), key)
        work = self._go_on(registry, spec, memory)
        await telling_meanwhile(work, lambda: self._tell_counts(key, memory), TELL_SECONDS)
        await self._begin_if_due(registry, spec, memory)
        await self._report(registry, self._state(registry, memory))
        if memory.write_failure is not None:
            raise memory.write_failure
        return self._next_look(memory)

    async def _disown(self, key: Key) -> None:
        """Each by itself: a Tenant that cannot be written keeps no other from its rows. It is tried at every look."""
        for step in without_former_owner(self.fleets.of(key)):
            try:
                await self._carry_out((step,), key)
            except KubeError as error:
                log.warning("the former owner reference of a Tenant could not be taken away: %s", error)

    async def _go_on(self, registry: Registry, spec: TenantRegistrySpec, memory: RegistryMemory) -> None:
        """With rows that were read for this very spec, and never with those of another."""
        now = self._inputs(registry)
        finished = self.readings.take(Key(registry.metadata.namespace, registry.metadata.name))
        if memory.inputs is not None and not memory.inputs.describes_the_table_of(now):
            memory.pending = memory.write_failure = memory.under_way = None
        if finished is not None and finished.inputs.describes_the_table_of(now):
            await self.syncs.take_in(registry, spec, memory, finished)
        elif memory.pending is not None:
            await self.syncs.converge(registry, spec, memory, memory.pending)

    async def _tell_counts(self, key: Key, memory: RegistryMemory) -> None:
        registry = self.registries.get(key)
        if registry is None or registry.metadata.deletion_timestamp is not None:
            return
        try:
            await self._report(registry, self._state(registry, memory))
        except KubeError as error:
            log.warning("the counts of a registry could not be told: %s", error)

    def _is_current(self, key: Key, memory: RegistryMemory) -> bool:
        """Whether what the last read was begun with still holds."""
        registry, used = self.registries.get(key), memory.inputs
        if registry is None or used is None:
            return False
        return used.gives_the_tenants_of(self._inputs(registry))

    def _memory(self, registry: Registry) -> RegistryMemory:
        key = Key(registry.metadata.namespace, registry.metadata.name)
        found = self._memories.get(key)
        if found is None or found.uid != registry.metadata.uid:
            found = self._memories[key] = recalled(registry, FleetWriter(self.context))
        return found

    async def _forget(self, key: Key) -> Result:
        self._memories.pop(key, None)
        self._moments.forget(key)
        self.readings.forget(key)
        await self.credentials.use(key, frozenset())
        return DONE

    def _is_urgent(self, registry: Registry, memory: RegistryMemory) -> bool:
        key = Key(registry.metadata.namespace, registry.metadata.name)
        return self.readings.has_ended(key) or self._is_due(registry, memory)

    def _is_due(self, registry: Registry, memory: RegistryMemory) -> bool:
        key = Key(registry.metadata.namespace, registry.metadata.name)
        if self.readings.is_under_way(key):
            return False
        if memory.next_sync <= self.context.clock.now() or memory.inputs != self._inputs(registry):
            return True
        return memory.secrets is not None and memory.secrets != self.credentials.versions_for(key)

    def _inputs(self, registry: Registry) -> Inputs:
        """A change of these is not left waiting for the next interval."""
        meta = registry.metadata
        return Inputs(
            term=None if self._loop is None else self._loop.queue,
            uid=meta.uid,
            generation=meta.generation,
            approval=meta.annotations.get(labels.APPROVE_DELETION, ""),
            templates=self.templates.inputs(Key(meta.namespace, meta.name)),
        )

    async def _begin_if_due(
        self, registry: Registry, spec: TenantRegistrySpec, memory: RegistryMemory
    ) -> None:
        key = Key(registry.metadata.namespace, registry.metadata.name)
        await self.credentials.use(key, secrets_of(spec.source, key.namespace))
        if self._is_due(registry, memory) or self._has_drifted(key, memory):
            self.readings.begin(key, self._inputs(registry), lambda: self._read(spec, key, memory))

    def _has_drifted(self, key: Key, memory: RegistryMemory) -> bool:
        return not self.readings.is_under_way(key) and memory.writer.has_drifted(self.fleets.version(key))

    async def _read(self, spec: TenantRegistrySpec, key: Key, memory: RegistryMemory) -> Rows:
        try:
            credentials = await self.credentials.read(spec.source, key.namespace)
        finally:
            memory.secrets = self.credentials.versions_for(key)
        source = open_source(spec.source, credentials, self.surroundings)
        return await source.read(columns_of(spec))

    def _referencing(self, meta: ObjectMeta) -> list[Template]:
        return self.templates.referencing(Key(meta.namespace, meta.name))

    def _state(self, registry: Registry, memory: RegistryMemory) -> RegistryState:
        meta = registry.metadata
        staying = [each for each in self._referencing(meta) if each.metadata.deletion_timestamp is None]
        sizes = self.fleets.sizes(Key(meta.namespace, meta.name))
        missing = self.templates.missing(meta.namespace, sizes.by_template)
        return RegistryState(
            meta,
            templates=len(staying),
            active_rows=memory.active_rows,
            counts=sizes.counts,
            waiting={name: count for name, count in sizes.by_template.items() if name in missing},
            rejected=memory.rejected,
            rejected_rows=len(memory.rejected),
            hold=memory.guard.hold,
            source_problem=memory.source_problem,
            write_problem=str(memory.write_failure or ""),
            last_sync=memory.last_sync,
        )

    async def _report(self, registry: Registry, state: RegistryState) -> None:
        key = Key(registry.metadata.namespace, registry.metadata.name)
        ref = Ref(REGISTRY, key)
        status = registry_status(state, registry.status, self.context.now())
        news = (
            Emit(ref, reason, told, EventType.WARNING)
            for reason, told in warnings(state, conditions_of(registry.status))
        )
        await self._carry_out((*news, *self._deleted(registry), Status(ref, status)), key)

    def _deleted(self, registry: Registry) -> Plan:
        """Says which Tenants are gone by now that we deleted."""
        meta = registry.metadata
        memory = self._memories.get(Key(meta.namespace, meta.name))
        if memory is None or not memory.deleting:
            return ()
        gone = [name for name in sorted(memory.deleting) if not self.tenants.get(Key(meta.namespace, name))]
        memory.deleting.difference_update(gone)
        ref = Ref(REGISTRY, Key(meta.namespace, meta.name))
        return tuple(Emit(ref, reasons.TENANT_DELETED, f"Tenant {name} is deleted") for name in gone)

    def _next_look(self, memory: RegistryMemory) -> Result:
        times = [memory.next_sync]
        if memory.look_again_at is not None and memory.pending is not None:
            times.append(memory.look_again_at)
        return RequeueAfter(max(0.01, min(times) - self.context.clock.now()))

    async def _carry_out(self, plan: Plan, key: Key) -> None:
        if plan:
            await self.context.executor.execute(plan, Ref(REGISTRY, key))

    async def _farewell(self, registry: Registry) -> Result:
        meta = registry.metadata
        key = Key(meta.namespace, meta.name)
        self.readings.forget(key)
        if labels.REGISTRY_FINALIZER not in meta.finalizers:
            return DONE
        fleet = self.fleets.of(key)
        if not fleet:
            await self._carry_out(let_go(Ref(REGISTRY, key), meta, labels.REGISTRY_FINALIZER), key)
            return DONE
        approval = meta.annotations.get(labels.APPROVE_DELETION, "")
        before = conditions_of(registry.status)
        leaving = departing(Departure(Ref(REGISTRY, key), fleet, fleet, registry.spec, approval, before))
        memory = self._memory(registry)
        memory.guard = memory.guard._replace(hold=leaving.hold)
        state = self._state(registry, memory)._replace(is_released=leaving.is_released)
        await self._report(registry, state)
        await self._carry_out(leaving.plan, key)
        return DONE


def _label_of(registry: Registry) -> list[str]:
    return [registry_value(registry.metadata.namespace, registry.metadata.name)]


def _registry_of_template(template: Template) -> list[Key]:
    return [Key(template.metadata.namespace, str(template.spec.get("registryId", "")))]
