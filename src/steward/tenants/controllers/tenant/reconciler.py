"""The Tenant controller: what its spec says becomes objects, in order; what it no longer says goes; its end is orderly.

What is to be applied is written down before it is, so a crash at any moment leaves nothing that the next life does not
know of. A look writes one status before it makes objects for the first time and one when the Tenant is ready; while
objects come up, one when they have stood still for a while; at rest none.
"""

import logging
import time
from typing import Final

from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import SECRET, Key, Kind, Ref
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_object
from steward.runtime.controller.triggers import For
from steward.runtime.plan.steps import Status
from steward.runtime.reconcile import DONE, Result
from steward.tenants import reasons
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import TenantStatus
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.child_watches import Children
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.common.document import Document, Unreadable
from steward.tenants.controllers.common.finalizers import held_by
from steward.tenants.controllers.tenant.apply import Hand, Job
from steward.tenants.controllers.tenant.apply_in_order import bring_up
from steward.tenants.controllers.tenant.deletion import is_left
from steward.tenants.controllers.tenant.finalizer import Leaver
from steward.tenants.controllers.tenant.impersonation import Rights
from steward.tenants.controllers.tenant.observe import Eyes
from steward.tenants.controllers.tenant.prune import Cleaner, Leaving, Left
from steward.tenants.controllers.tenant.report import Reporter, Work
from steward.tenants.controllers.tenant.state import Memories, TenantMemory
from steward.tenants.labels import FORCE_DELETE, REMOVED_FROM_TEMPLATE, TENANT_FINALIZER
from steward.tenants.metrics import ERROR, PARTIAL_FAILURE, SUCCESS, Counts, TenantsCollector
from steward.tenants.names import bucket
from steward.tenants.objects.dependencies import edges_of, find_cycle
from steward.tenants.objects.desired import (
    Scope,
    doubled,
    kinds_of,
    kinds_with_a_rule,
    resources_of,
    wanted_objects,
)
from steward.tenants.objects.orphans import Applied, Owner, find_orphans
from steward.tenants.objects.permissions import is_refused, missing_account, permissions_of
from steward.tenants.status.tenant import Before, Trouble, tally, troubled

log = logging.getLogger(__name__)

SAFETY_SECONDS: Final = 600.0


class TenantReconciler:
    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self.tenants = context.store(context.rules.tenant)
        self.registries = context.store(context.rules.registry)
        self.counts = Counts(context.manager.metrics.registry)
        self.children = Children(context.manager, context.settings)
        context.shelf.watch_payloads(self.children.store(SECRET))
        self._permissions = permissions_of(context.settings)
        eyes = Eyes(context.client, self.children)
        self._hand = Hand(eyes, context.clock, self._permissions, self.counts)
        self._cleaner = Cleaner(context.client, eyes, context.clock)
        self._rights = Rights(context)
        self._reporter = Reporter(context)
        self._leaver = Leaver(self._reporter, self._cleaner, self._rights)
        self._memories = Memories()
        context.manager.metrics.registry.register(TenantsCollector(self))

    def controller(self) -> Controller:
        return Controller(
            "tenant",
            self,
            (For(self._context.rules.tenant, when=own_object(FORCE_DELETE)),),
            workers=self._context.settings.tenant_concurrency,
            resync_seconds=SAFETY_SECONDS,
            channel=self.children.channel,
        )

    async def reconcile(self, key: Key) -> Result:
        started, outcome = time.perf_counter(), ERROR
        log.debug("looking at the Tenant")
        try:
            result, outcome = await self._look(key)
            return result
        finally:
            seconds = time.perf_counter() - started
            self.counts.took(outcome, seconds)
            log.debug("looked at the Tenant", extra={"result": outcome, "seconds": round(seconds, 4)})

    async def _look(self, key: Key) -> tuple[Result, str]:
        document = await self._context.shelf.document(key)
        if document is None:
            self._forget(key)
            return DONE, SUCCESS
        if isinstance(document, Unreadable):
            return await self._unreadable(key, document)
        memory = self._memories.of(key, document.metadata.uid)
        if document.is_leaving:
            return await self._leaver.leave(document), SUCCESS
        return await self._keep(document, memory)

    def _forget(self, key: Key) -> None:
        self._memories.forget(key)
        self.counts.forget(key)
        self._reporter.forget(Ref(TENANT_KIND, key))

    async def _unreadable(self, key: Key, found: Unreadable) -> tuple[Result, str]:
        trouble = Trouble(reasons.UNREADABLE_SPEC, f"the spec cannot be read: {found.why}")
        before = Before(TenantStatus(), found.metadata.generation, self._context.now())
        step = Status(Ref(TENANT_KIND, key), troubled(before, trouble))
        await self._context.executor.execute((step,), step.ref)
        return DONE, ERROR

    async def _keep(self, document: Document, memory: TenantMemory) -> tuple[Result, str]:
        plan = held_by(document.ref, document.metadata, TENANT_FINALIZER)
        await self._context.executor.execute(plan, document.ref)
        if document.spec.template_generation is UNSET:
            return DONE, SUCCESS  # not rendered by us yet: its texts may still be templates
        trouble = self._trouble(document)
        if trouble is not None:
            await self._reporter.stall(document, memory, trouble)
            return DONE, PARTIAL_FAILURE
        memory.take_in(document.records)
        return await self._bring(document, memory)

    def _trouble(self, document: Document) -> Trouble | None:
        failure = document.spec.render_failure
        if failure is not UNSET:
            where = f"resource {failure.resource!r}, {failure.field}"
            return Trouble(reasons.TEMPLATE_RENDER_ERROR, f"{where}: {failure.message}")
        missing = missing_account(document.account, self._permissions)
        if missing:
            return Trouble(reasons.NO_SERVICE_ACCOUNT, missing)
        cycle = find_cycle(edges_of(resources_of(document.spec)))
        if cycle is not None:
            return Trouble(reasons.DEPENDENCY_CYCLE, f"Dependency cycle detected: {' -> '.join(cycle)}")
        return None

    async def _bring(self, document: Document, memory: TenantMemory) -> tuple[Result, str]:
        """Read, write down, let go, bring up, report."""
        resources = resources_of(document.spec)
        self.children.watch(kind for kind in kinds_of(resources) if not is_refused(kind, self._permissions))
        self.children.follow(kinds_with_a_rule(resources))
        scopes, unserved = await self._scopes(resources)
        payload = await self._context.shelf.payload(document)
        wanted = wanted_objects(resources, Scope(self._owner(document), scopes, payload))
        orphans = find_orphans(document.recorded, [each.applied for each in wanted])
        work = Work(document, memory, wanted)
        work = await self._reporter.announce(work, orphans)
        left = await self._let_go(document, orphans)
        progress = await bring_up(self._hand, wanted, self._job(work, unserved))
        result = await self._reporter.report(work, progress, left)
        return result, PARTIAL_FAILURE if tally(progress).is_degraded else SUCCESS

    async def _scopes(self, resources: list[TResource]) -> tuple[frozenset[Kind], dict[Kind, str]]:
        """Which kinds have no namespace, and which the server does not serve at all."""
        scoped, unserved = set(), dict[Kind, str]()
        for kind in kinds_of(resources):
            try:
                if not (await self._context.client.discovery.resource(kind)).namespaced:
                    scoped.add(kind)
            except NoSuchKind as error:
                unserved[kind] = str(error)
        return frozenset(scoped), unserved

    async def _let_go(self, document: Document, orphans: tuple[Applied, ...]) -> list[Left]:
        """Those of the orphans that are still there."""
        executor, _ = self._rights.of(document)
        leaving = Leaving(document.ref, document.owner, executor, REMOVED_FROM_TEMPLATE)
        return [each for each in await self._cleaner.clean(orphans, leaving) if is_left(each, document)]

    def _owner(self, document: Document) -> Owner:
        is_split = self._context.settings.shard.of > 1
        return document.owner._replace(bucket=bucket(document.metadata.name)) if is_split else document.owner

    def _job(self, work: Work, unserved: dict[Kind, str]) -> Job:
        document, wanted = work.document, work.wanted
        executor, client = self._rights.of(document)
        return Job(
            tenant=document.ref,
            owner=self._owner(document),
            generation=document.metadata.generation,
            executor=executor,
            client=client,
            memory=work.memory,
            doubled=doubled(wanted),
            unserved=unserved,
        )
