"""Executes plans: all writes to Kubernetes objects that controllers decide on go through here.

Other writers: certificate keepers write their Secrets (`certificates/secret_store.py`, optimistic locking, on every
replica); the webhook service writes CA bundles and, outside a cluster, webhook configurations
(`admission/ca_bundle.py`, `admission/self_registration.py`); the event recorder writes Events; the topology controller
writes records to etcd; leader election writes the Lease.

Steps are executed in the order of the plan; adjacent applies and creates are executed concurrently, within a limit per
plan and one per process. The first error ends the plan after the steps of its group have finished. It is raised with
its own type, so that a reconcile can tell a field conflict from a missing permission, and with notes that name the
objects. A step whose goal is already reached is no error: deleting an object that does not exist, creating one that
exists, writing the status of an object that has been deleted.

Every response updates the caches of its kind before the next step, so that no reconcile reads a state older than its
own last write.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from steward.kube.apply import applier as apply
from steward.kube.apply.applier import Applier, is_authoritative
from steward.kube.cache.caches import Caches
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.config.settings import Impersonation
from steward.kube.errors import AlreadyExists, Conflict, DisruptionBudget, InternalError, NotFound
from steward.kube.managed_fields.ownership import OwnedFields
from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.runtime.plan.event_recorder import EventRecorder, ObjectEvent
from steward.runtime.plan.remaining_object import is_terminating, uid_if_deleted
from steward.runtime.plan.service_ip_limit import ServiceIpLimit
from steward.runtime.plan.step_spans import PartNames, step_span
from steward.runtime.plan.steps import (
    Apply,
    Create,
    Delete,
    Emit,
    Hold,
    Patch,
    Plan,
    Requeue,
    Status,
    Step,
    concurrent_groups,
    status_manifest,
    step_target,
)
from steward.runtime.plan.write_slots import WriteSlots
from steward.runtime.reconcile import DONE, RequeueAfter, Result

log = logging.getLogger(__name__)

MAX_CONCURRENT_WRITES_PER_PLAN = 16


class StepEffect(Enum):
    """The effect of an executed step."""

    UNCHANGED = "unchanged"  # no write was sent, or the object existed
    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    GONE = "gone"  # the object was deleted before the step
    FORBIDDEN = "forbidden"  # a disruption budget forbids the eviction
    EMITTED = "emitted"
    HELD = "held"
    REQUEUED = "requeued"


_APPLY_EFFECTS = {
    apply.ApplyOutcome.UNCHANGED: StepEffect.UNCHANGED,
    apply.ApplyOutcome.CREATED: StepEffect.CREATED,
    apply.ApplyOutcome.CHANGED: StepEffect.CHANGED,
}

WRITES = frozenset({StepEffect.CREATED, StepEffect.CHANGED, StepEffect.DELETED})


class StepResult(NamedTuple):
    step: Step
    effect: StepEffect
    owned: OwnedFields | None = None
    """Of an apply: the fields that we own after it. The cache may already hold a later edit of another client."""


class PlanResult(msgspec.Struct):
    """The executed steps of a plan and their effects."""

    steps: list[StepResult] = []

    @property
    def writes(self) -> int:
        return sum(1 for executed in self.steps if executed.effect in WRITES)

    @property
    def forbidden(self) -> tuple[Step, ...]:
        """Evictions that a disruption budget forbids."""
        return tuple(executed.step for executed in self.steps if executed.effect is StepEffect.FORBIDDEN)

    @property
    def holds(self) -> tuple[Hold, ...]:
        return tuple(executed.step for executed in self.steps if isinstance(executed.step, Hold))

    @property
    def result(self) -> Result:
        """The result of the reconcile: done, or the earliest requeue of the plan."""
        delays = [executed.step.after for executed in self.steps if isinstance(executed.step, Requeue)]
        return RequeueAfter(min(delays)) if delays else DONE


def _ignore(step: Step) -> None: ...


@dataclass(frozen=True)
class StepHooks:
    """Called before and after each step; crash tests end the process there."""

    before: Callable[[Step], None] = _ignore
    after: Callable[[Step], None] = _ignore


@dataclass(frozen=True)
class ExecutorDependencies:
    """Client, caches, event recorder and limits that the executors of a process share."""

    client: Client
    applier: Applier
    caches: Caches
    events: EventRecorder
    write_slots: WriteSlots = field(default_factory=WriteSlots)
    service_ip_limit: ServiceIpLimit = field(default_factory=ServiceIpLimit)

    def acting_as(self, who: Impersonation) -> ExecutorDependencies:
        """The same dependencies with an impersonating client."""
        client = self.client.as_user(who)
        return replace(self, client=client, applier=self.applier.with_client(client))

    def stores_of(self, kind: Kind) -> tuple[Store[Any], ...]:
        return self.caches.stores_of(kind)

    def store_for(self, manifest: Manifest, options: ApplyOptions) -> Store[Any] | None:
        """The store that keeps the fields owned by this manager; of several, one whose rule selects this object."""
        stores = self.stores_of(kind_of(manifest))
        ours = [store for store in stores if store.rule.owned_by == options.manager]
        if len(ours) < 2:
            return ours[0] if ours else None
        ref = ref_of(manifest)
        return next((store for store in ours if is_authoritative(store, ref, manifest, options)), ours[0])


class PlanExecutor:
    def __init__(
        self,
        dependencies: ExecutorDependencies,
        field_manager: str,
        hooks: StepHooks | None = None,
        parts: PartNames | None = None,
    ) -> None:
        self._dependencies = dependencies
        self._field_manager = field_manager
        self._hooks = hooks or StepHooks()
        self._parts = parts or {}

    def acting_as(self, who: Impersonation) -> PlanExecutor:
        """Executes plans with the permissions of another account; events are still emitted with our own."""
        return PlanExecutor(self._dependencies.acting_as(who), self._field_manager, self._hooks, self._parts)

    async def execute(self, plan: Plan, for_object: Ref) -> PlanResult:
        """Executes all steps; errors name the object for which the plan was made."""
        result = PlanResult()
        for group in concurrent_groups(plan):
            result.steps.extend(await self._execute_group(group, for_object))
        return result

    async def _execute_group(self, group: Plan, for_object: Ref) -> list[StepResult]:
        if len(group) == 1:
            return [await self._execute_single(group[0], for_object)]
        plan_slots = asyncio.Semaphore(MAX_CONCURRENT_WRITES_PER_PLAN)
        results = await asyncio.gather(
            *(self._execute_in_group(step, plan_slots, for_object) for step in group)
        )
        failures = [
            (step, error) for step, error in zip(group, results, strict=True) if isinstance(error, Exception)
        ]
        if failures:
            raise _with_objects_named(failures, for_object)
        return [result for result in results if isinstance(result, StepResult)]

    async def _execute_single(self, step: Step, for_object: Ref) -> StepResult:
        try:
            async with self._dependencies.service_ip_limit.acquire_for(step):
                return await self._execute_step(step, for_object)
        except Exception as error:
            _with_objects_named([(step, error)], for_object)
            raise

    async def _execute_in_group(
        self, step: Step, plan_slots: asyncio.Semaphore, for_object: Ref
    ) -> StepResult | Exception:
        """Returns the error instead of raising it, so that the other steps of the group finish."""
        try:
            async with self._dependencies.service_ip_limit.acquire_for(step), plan_slots:
                return await self._execute_step(step, for_object)
        except Exception as error:
            return error

    async def _execute_step(self, step: Step, for_object: Ref) -> StepResult:
        slots = self._dependencies.write_slots
        async with slots:
            self._hooks.before(step)
            started = time.perf_counter()
            with step_span(step, for_object, self._parts):
                result = await self._dispatch(step)
            if result.effect in WRITES:
                slots.observe(time.perf_counter() - started)
            self._hooks.after(step)
        return result

    async def _dispatch(self, step: Step) -> StepResult:
        if isinstance(step, Apply):
            return await self._apply(step)
        return StepResult(step, await self._take_effect(step))

    async def _take_effect(
        self, step: Create | Patch | Delete | Status | Emit | Hold | Requeue
    ) -> StepEffect:
        match step:
            case Create():
                return await self._create(step)
            case Patch():
                return await self._patch(step)
            case Delete():
                return await self._delete(step)
            case Status():
                return await self._apply_status(step)
            case Emit():
                return self._emit(step)
            case Hold():
                log.info("held %d: %s: %s", step.count, step.reason, step.message)
                return StepEffect.HELD
            case Requeue():
                return StepEffect.REQUEUED

    async def _apply(self, step: Apply) -> StepResult:
        options = ApplyOptions(
            manager=step.manager or self._field_manager,
            force=step.force,
            only_if_absent=step.only_if_absent,
            resource_version=step.resource_version,
        )
        applied = await self._apply_manifest(step.manifest, options)
        return StepResult(step, _APPLY_EFFECTS[applied.outcome], applied.owned)

    async def _apply_status(self, step: Status) -> StepEffect:
        try:
            options = ApplyOptions(manager=self._field_manager, subresource="status")
            applied = await self._apply_manifest(status_manifest(step), options)
        except NotFound:
            return StepEffect.GONE
        return _APPLY_EFFECTS[applied.outcome]

    async def _apply_manifest(self, manifest: Manifest, options: ApplyOptions) -> apply.ApplyResult:
        ours = self._dependencies.store_for(manifest, options)
        applied = await self._dependencies.applier.apply(manifest, options, ours)
        self._update_stores(kind_of(manifest), applied.body, except_store=ours)
        return applied

    async def _create(self, step: Create) -> StepEffect:
        try:
            body = await self._dependencies.client.create(step.manifest, manager=self._field_manager)
        except AlreadyExists:
            return StepEffect.UNCHANGED
        self._update_stores(step.ref.kind, body)
        return StepEffect.CREATED

    async def _patch(self, step: Patch) -> StepEffect:
        body = await self._dependencies.client.patch(
            step.ref, step.patch, step.subresource, manager=step.manager or self._field_manager
        )
        if uid := uid_if_deleted(body):
            self._forget(step.ref, uid)
        elif not step.subresource or step.subresource == "status":
            self._update_stores(step.ref.kind, body)
        return StepEffect.CHANGED

    async def _delete(self, step: Delete) -> StepEffect:
        options = DeleteOptions(
            uid=step.uid,
            resource_version=step.resource_version,
            propagation=step.propagation,
            grace_seconds=step.grace_seconds,
        )
        if step.by == "eviction":
            return await self._evict(step, options)
        log.info("deleting %s: %s", step.ref, step.reason)
        try:
            body = await self._dependencies.client.delete(step.ref, options)
        except (NotFound, Conflict) as error:
            if isinstance(error, Conflict) and step.resource_version:
                raise
            # Not found, or an object of the same name with another uid: this object does not exist any more.
            self._forget(step.ref, step.uid)
            return StepEffect.GONE
        if is_terminating(body):
            self._update_stores(step.ref.kind, body)
        else:
            self._forget(step.ref, step.uid)
        return StepEffect.DELETED

    async def _evict(self, step: Delete, options: DeleteOptions) -> StepEffect:
        log.info("evicting %s: %s", step.ref, step.reason)
        try:
            await self._dependencies.client.evict(step.ref, options)
        except (DisruptionBudget, InternalError) as error:
            if not _is_disruption_budget_error(error):
                raise
            log.info("%s cannot be evicted: %s", step.ref, error)
            return StepEffect.FORBIDDEN
        except (NotFound, Conflict):
            self._forget(step.ref, step.uid)
            return StepEffect.GONE
        await self._refresh_evicted(step)
        return StepEffect.DELETED

    async def _refresh_evicted(self, step: Delete) -> None:
        """The response to an eviction does not hold the pod; read it, so that no reconcile sees it unchanged."""
        try:
            live = await self._dependencies.client.get(step.ref.kind, step.ref.key)
        except NotFound:
            self._forget(step.ref, step.uid)
            return
        if live["metadata"]["uid"] != step.uid:
            self._forget(step.ref, step.uid)
        self._update_stores(step.ref.kind, msgspec.json.encode(live))

    def _emit(self, step: Emit) -> StepEffect:
        uid = step.uid or self._cached_uid(step.ref)
        self._dependencies.events.emit(ObjectEvent(step.ref, uid, step.type, step.reason, step.message))
        return StepEffect.EMITTED

    def _cached_uid(self, ref: Ref) -> str:
        cached = (store.get(ref.key) for store in self._dependencies.stores_of(ref.kind))
        return next((view.metadata.uid for view in cached if view is not None), "")

    def _update_stores(self, kind: Kind, body: bytes, except_store: Store[Any] | None = None) -> None:
        if not body:
            return
        for store in self._dependencies.stores_of(kind):
            if store is not except_store:
                store.observe_write(body)

    def _forget(self, ref: Ref, uid: str) -> None:
        for store in self._dependencies.stores_of(ref.kind):
            store.observe_delete(ref.key, uid)


def _is_disruption_budget_error(error: Exception) -> bool:
    """A pod with two budgets cannot be evicted at all; the API server reports that as an internal error."""
    return isinstance(error, DisruptionBudget) or "more than one PodDisruptionBudget" in str(error)


_VERBS: dict[type[Any], str] = {
    Apply: "applying",
    Create: "creating",
    Patch: "patching",
    Delete: "deleting",
    Status: "writing the status of",
}


def _with_objects_named(failures: list[tuple[Step, Exception]], for_object: Ref) -> Exception:
    """The first error, unchanged in type, with notes that name the objects of all failures."""
    first = failures[0][1]
    for step, error in failures:
        action = f"{_VERBS.get(type(step), 'executing')} {step_target(step)} for {for_object}"
        first.add_note(f"while {action}" if error is first else f"also failed: {action}: {error}")
    return first
