"""The Tenant controller: applies the objects of the spec in order, prunes others, and deletes all with the Tenant.

Objects are recorded before they are created, so a crash at any moment leaves none that the next process does not know
of. The record of a new Tenant is its spec, which the registry controller does not change before a status holds the
records; the objects that a later spec adds are recorded in the status first. A new Tenant that is ready in time has one
status; while objects become ready, one is written when they have made no progress for a while; an unchanged Tenant has
none.
"""

import logging
import time
from typing import Final, NamedTuple

from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import SECRET, Key, Kind, Ref
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_object
from steward.runtime.controller.triggers import For
from steward.runtime.plan.executor import PlanExecutor
from steward.runtime.plan.finalizers import add_finalizer
from steward.runtime.plan.steps import Status
from steward.runtime.reconcile import DONE, Result
from steward.tenants import reasons
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import TenantStatus
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.child_watches import ChildWatches
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.document import TenantDocument, UnreadableTenant
from steward.tenants.controllers.tenant.access import AccessResolver, is_refused, without_unapplied
from steward.tenants.controllers.tenant.apply import ObjectApplier
from steward.tenants.controllers.tenant.apply_context import ApplyContext
from steward.tenants.controllers.tenant.apply_in_order import apply_in_order
from steward.tenants.controllers.tenant.deletion import TenantDeletion, is_remaining
from steward.tenants.controllers.tenant.observe import ObjectReader
from steward.tenants.controllers.tenant.prune import PruneContext, Pruner, PruneResult
from steward.tenants.controllers.tenant.records import recorded_document
from steward.tenants.controllers.tenant.report import TenantReporter, TenantSnapshot
from steward.tenants.controllers.tenant.state import TenantState, TenantStates
from steward.tenants.controllers.tenant.storage_classes import StorageClasses
from steward.tenants.fleet.part import TenantsOfPart, changes_of_part
from steward.tenants.labels import FORCE_DELETE, REMOVED_FROM_TEMPLATE, TENANT_FINALIZER
from steward.tenants.metrics import ERROR, PARTIAL_FAILURE, SUCCESS, TenantMetrics, TenantsCollector
from steward.tenants.names import bucket
from steward.tenants.objects.access import TenantAccess
from steward.tenants.objects.dependencies import dependency_edges, find_cycle
from steward.tenants.objects.desired import (
    DesiredObject,
    ObjectScope,
    desired_objects,
    duplicate_objects,
    kinds_of,
    kinds_with_readiness_rule,
    resources_of,
    shape_problem,
)
from steward.tenants.objects.orphans import AppliedRef, TenantOwner, find_orphans
from steward.tenants.objects.permissions import (
    is_restricted,
    missing_account_message,
    service_account_identity,
)
from steward.tenants.status.tenant import PreviousStatus, TenantProblem, count_resources, problem_status

log = logging.getLogger(__name__)

RESYNC_SECONDS: Final = 600.0


class DiscoveredKinds(NamedTuple):
    cluster_scoped: frozenset[Kind]
    unserved: dict[Kind, str]
    """Kinds that the API server does not serve, each with its message."""


class ObjectsInSpec(NamedTuple):
    allowed: tuple[DesiredObject, ...]
    refused_ids: frozenset[str]
    """The resources that the Tenant may not write."""


class TenantReconciler:
    def __init__(self, context: TenantsContext) -> None:
        self._context = context
        self.tenants = TenantsOfPart(context.store(context.rules.tenant), context.part)
        self.registries = context.store(context.rules.registry)
        self.metrics = TenantMetrics(context.manager.metrics.registry)
        self.children = ChildWatches(context.manager, context.settings)
        context.documents.watch_payloads(self.children.store(SECRET))
        self._access = AccessResolver(context, self.children)
        self._permissions = self._access.permissions
        classes = StorageClasses(context.client, context.clock)
        reader = ObjectReader(context.client, self.children, classes)
        self._applier = ObjectApplier(reader, context.clock, self.metrics)
        self._pruner = Pruner(context.client, reader, context.clock)
        self._reporter = TenantReporter(context, self.children.unrepaired)
        self._deletion = TenantDeletion(self._reporter, self._pruner)
        self._states = TenantStates()
        context.manager.metrics.registry.register(TenantsCollector(self))

    def controller(self) -> Controller:
        when = changes_of_part(self._context.part, own_object(FORCE_DELETE))
        return Controller(
            "tenant",
            self,
            (For(self._context.rules.tenant, when=when),),
            workers=self._context.settings.tenant_concurrency,
            urgent_workers=self._context.settings.tenant_concurrency,
            resync_seconds=RESYNC_SECONDS,
            depth=1,
            channel=self.children.channel,
        )

    async def reconcile(self, key: Key) -> Result:
        started, outcome = time.perf_counter(), ERROR
        self.children.unrepaired.discard(key)
        log.debug("reconciling the Tenant")
        try:
            result, outcome = await self._reconcile(key)
            return result
        finally:
            seconds = time.perf_counter() - started
            self.metrics.observe_reconcile(outcome, seconds)
            log.debug("reconciled the Tenant", extra={"result": outcome, "seconds": round(seconds, 4)})

    async def _reconcile(self, key: Key) -> tuple[Result, str]:
        await self._wait_for_objects(key)
        is_own = self.tenants.get(key) is not None
        document = await self._context.documents.get_document(key) if is_own else None
        if document is None:
            self._forget(key)
            return DONE, SUCCESS
        if isinstance(document, UnreadableTenant):
            return await self._report_unreadable(key, document)
        state = self._states.get(key, document.metadata.uid)
        if document.is_terminating:
            return await self._delete(document, state), SUCCESS
        if document.spec.paused is True:
            await self._reporter.report_pause(await self._with_records(document, state))
            return DONE, SUCCESS
        return await self._apply(document, state)

    async def _wait_for_objects(self, key: Key) -> None:
        """After a start, until the objects of Tenants are cached. A Tenant without a status is new, and need not wait:
        it has no objects, unless the previous process was ended at that moment. What is not cached is read from the API
        server."""
        tenant = self.tenants.get(key)
        if tenant is not None and (tenant.status.conditions or tenant.metadata.deletion_timestamp):
            await self.children.wait_filled()

    async def _delete(self, document: TenantDocument, state: TenantState) -> Result:
        executor, _ = self._clients(document)
        in_spec = await self._objects_in_spec(document)
        document = recorded_document(document, state, in_spec.allowed)
        return await self._deletion.reconcile(document, executor, in_spec.refused_ids)

    async def _with_records(self, document: TenantDocument, state: TenantState) -> TenantDocument:
        """For statuses of Tenants to which nothing is applied now."""
        if document.is_reported:
            return document
        return recorded_document(document, state, (await self._objects_in_spec(document)).allowed)

    async def _objects_in_spec(self, document: TenantDocument) -> ObjectsInSpec:
        """Without payloads."""
        resources = resources_of(document.spec)
        if document.spec.template_generation is UNSET or shape_problem(resources):
            return ObjectsInSpec((), frozenset())
        kinds = await self._discover_kinds(resources)
        desired = desired_objects(resources, ObjectScope(document.owner, kinds.cluster_scoped, None))
        access = await self._access.access(document, desired)
        refused = frozenset(each.id for each in desired if is_refused(each, access))
        return ObjectsInSpec(tuple(each for each in desired if not is_refused(each, access)), refused)

    def _forget(self, key: Key) -> None:
        self._states.forget(key)
        self._access.forget(key)
        self.metrics.forget(key)
        self._reporter.forget(Ref(TENANT_KIND, key))

    async def _report_unreadable(self, key: Key, unreadable: UnreadableTenant) -> tuple[Result, str]:
        problem = TenantProblem(reasons.UNREADABLE_SPEC, f"the spec cannot be read: {unreadable.message}")
        previous = PreviousStatus(TenantStatus(), unreadable.metadata.generation, self._context.now())
        step = Status(Ref(TENANT_KIND, key), problem_status(previous, problem))
        await self._context.executor.execute((step,), step.ref)
        return DONE, ERROR

    async def _apply(self, document: TenantDocument, state: TenantState) -> tuple[Result, str]:
        plan = add_finalizer(document.ref, document.metadata, TENANT_FINALIZER)
        await self._context.executor.execute(plan, document.ref)
        if document.spec.template_generation is UNSET:
            return DONE, SUCCESS  # the Go operator's: its texts may still be templates
        problem = self._problem(document)
        if problem is not None:
            await self._reporter.report_problem(await self._with_records(document, state), state, problem)
            return DONE, PARTIAL_FAILURE
        state.add_records(document.records)
        try:
            return await self._apply_objects(document, state)
        except Exception:
            await self._reporter.record_interrupted(await self._with_records(document, state))
            raise

    def _problem(self, document: TenantDocument) -> TenantProblem | None:
        """Why nothing of the Tenant can be applied."""
        failure = document.spec.render_failure
        if failure is not UNSET:
            where = (
                f"TenantTemplate {document.spec.template_ref}, resource {failure.resource!r}, {failure.field}"
            )
            return TenantProblem(reasons.TEMPLATE_RENDER_ERROR, f"{where}: {failure.message}")
        if malformed := shape_problem(resources_of(document.spec)):
            return TenantProblem(reasons.UNREADABLE_SPEC, f"the spec cannot be read: {malformed}")
        missing = missing_account_message(document.service_account, self._permissions)
        if missing:
            return TenantProblem(reasons.NO_SERVICE_ACCOUNT, missing)
        cycle = find_cycle(dependency_edges(resources_of(document.spec)))
        if cycle is not None:
            return TenantProblem(reasons.DEPENDENCY_CYCLE, f"Dependency cycle detected: {' -> '.join(cycle)}")
        return None

    async def _apply_objects(self, document: TenantDocument, state: TenantState) -> tuple[Result, str]:
        """Record, prune, apply, report."""
        kinds = await self._discover(resources_of(document.spec))
        desired = await self._desired_objects(document, kinds)
        access = await self._access.access(document, desired)
        document = recorded_document(document, state)
        allowed = without_unapplied(desired, document, access)
        document = recorded_document(document, state, allowed)
        orphans = find_orphans(document.recorded_objects, [each.applied_ref for each in desired])
        snapshot = await self._reporter.record_desired(TenantSnapshot(document, state, allowed), orphans)
        remaining = await self._prune(document, orphans)
        context = self._apply_context(snapshot, kinds, access)
        progress = await apply_in_order(self._applier, desired, context)
        self._context.backlog.remove(document.ref.key)
        result = await self._reporter.report(snapshot, progress, remaining)
        return result, PARTIAL_FAILURE if count_resources(progress).is_degraded else SUCCESS

    async def _discover(self, resources: list[TResource]) -> DiscoveredKinds:
        """Watches the kinds of the resources, and asks the API server for their scope."""
        allowed = (kind for kind in kinds_of(resources) if not is_restricted(kind, self._permissions))
        self.children.watch(allowed)
        self.children.watch_every_change(kinds_with_readiness_rule(resources))
        return await self._discover_kinds(resources)

    async def _discover_kinds(self, resources: list[TResource]) -> DiscoveredKinds:
        cluster_scoped, unserved = set(), dict[Kind, str]()
        for kind in kinds_of(resources):
            try:
                if not (await self._context.client.discovery.resource(kind)).namespaced:
                    cluster_scoped.add(kind)
            except NoSuchKind as error:
                unserved[kind] = str(error)
        return DiscoveredKinds(frozenset(cluster_scoped), unserved)

    async def _desired_objects(
        self, document: TenantDocument, kinds: DiscoveredKinds
    ) -> tuple[DesiredObject, ...]:
        payload = await self._context.documents.get_payload(document)
        scope = ObjectScope(self._owner(document), kinds.cluster_scoped, payload)
        return desired_objects(resources_of(document.spec), scope)

    async def _prune(self, document: TenantDocument, orphans: tuple[AppliedRef, ...]) -> list[PruneResult]:
        """Those of the orphans that still exist."""
        executor, _ = self._clients(document)
        context = PruneContext(document.ref, document.owner, executor, REMOVED_FROM_TEMPLATE)
        return [each for each in await self._pruner.prune(orphans, context) if is_remaining(each, document)]

    def _owner(self, document: TenantDocument) -> TenantOwner:
        is_split = self._context.settings.partition.total > 1
        return document.owner._replace(bucket=bucket(document.metadata.name)) if is_split else document.owner

    def _clients(self, document: TenantDocument) -> tuple[PlanExecutor, Client]:
        """With the permissions of the template's service account, or with the operator's own."""
        executor, client = self._context.executor, self._context.client
        if not document.service_account:
            return executor, client
        user = service_account_identity(document.metadata.namespace, document.service_account)
        return executor.acting_as(user), client.as_user(user)

    def _apply_context(
        self, snapshot: TenantSnapshot, kinds: DiscoveredKinds, access: TenantAccess
    ) -> ApplyContext:
        document = snapshot.document
        executor, client = self._clients(document)
        return ApplyContext(
            tenant=document.ref,
            owner=self._owner(document),
            generation=document.metadata.generation,
            executor=executor,
            client=client,
            state=snapshot.state,
            duplicates=duplicate_objects(snapshot.desired),
            unserved=kinds.unserved,
            access=access,
        )
