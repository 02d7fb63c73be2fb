"""Carries a plan out: the only place from which either operator writes.

Steps go out in the order of the plan; a run of applies and creates goes out together, within a bound for the plan and
one for the process. The first error stops what stands behind it, after its own run has ended, and is raised with the
name of the object and its own type, so that a reconcile can tell a field conflict from a missing right. What is
already as it should be is no error: a delete of what is gone, a create of what is there, a status for an object that
went meanwhile.

Every answer goes to the caches of its kind before the next step, so that no reconcile acts on a world older than its
own last write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from steward.kube.apply import applier as apply
from steward.kube.apply.applier import Applier, speaks_for
from steward.kube.cache.caches import Caches
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.config.settings import Impersonation
from steward.kube.errors import AlreadyExists, Conflict, DisruptionBudget, InternalError, NotFound
from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.runtime.plan.event_recorder import EventRecorder, Note
from steward.runtime.plan.lanes import Echoes
from steward.runtime.plan.service_ip_limit import Narrows
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
    about,
    groups,
    status_manifest,
)
from steward.runtime.reconcile import DONE, RequeueAfter, Result

log = logging.getLogger(__name__)

WRITES_OF_A_PLAN = 16
WRITES_OF_A_PROCESS = 64


class Effect(Enum):
    """What became of a step."""

    UNCHANGED = "unchanged"  # the server was not asked to change anything
    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    GONE = "gone"  # the object went before the step came to it
    FORBIDDEN = "forbidden"  # a disruption budget keeps the pod where it is
    TOLD = "told"
    HELD = "held"
    REQUEUED = "requeued"


_OF_APPLY = {
    apply.Outcome.UNCHANGED: Effect.UNCHANGED,
    apply.Outcome.CREATED: Effect.CREATED,
    apply.Outcome.CHANGED: Effect.CHANGED,
}

WRITES = frozenset({Effect.CREATED, Effect.CHANGED, Effect.DELETED})


class StepResult(NamedTuple):
    step: Step
    effect: Effect


class PlanResult(msgspec.Struct):
    """What a plan did."""

    carried: list[StepResult] = []

    @property
    def writes(self) -> int:
        return sum(1 for carried in self.carried if carried.effect in WRITES)

    @property
    def forbidden(self) -> tuple[Step, ...]:
        """Evictions that a disruption budget did not let pass."""
        return tuple(carried.step for carried in self.carried if carried.effect is Effect.FORBIDDEN)

    @property
    def holds(self) -> tuple[Hold, ...]:
        return tuple(carried.step for carried in self.carried if isinstance(carried.step, Hold))

    @property
    def result(self) -> Result:
        """The answer of a reconcile that has nothing to add: done, or back at the earliest time that a step named."""
        times = [carried.step.after for carried in self.carried if isinstance(carried.step, Requeue)]
        return RequeueAfter(min(times)) if times else DONE


def _ignore(step: Step) -> None: ...


@dataclass(frozen=True)
class StepHooks:
    """Called around each step; a crash test ends the process in one of them."""

    before: Callable[[Step], None] = _ignore
    after: Callable[[Step], None] = _ignore


@dataclass(frozen=True)
class ExecutorDependencies:
    """What a carrier needs to reach the world; one for the process."""

    client: Client
    applier: Applier
    caches: Caches
    events: EventRecorder
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(WRITES_OF_A_PROCESS))
    narrows: Narrows = field(default_factory=Narrows)
    echoes: Echoes = field(default_factory=Echoes)

    def acting_as(self, who: Impersonation) -> ExecutorDependencies:
        """The same world, reached with somebody else's rights."""
        client = self.client.as_user(who)
        return replace(self, client=client, applier=self.applier.through(client))

    def stores_of(self, kind: Kind) -> tuple[Store[Any], ...]:
        return self.caches.stores_of(kind)

    def store_for(self, manifest: Manifest, options: ApplyOptions) -> Store[Any] | None:
        """The one that keeps what this manager owns of the object; of several, one that would hold this object."""
        stores = self.stores_of(kind_of(manifest))
        ours = [store for store in stores if store.rule.owned_by == options.manager]
        if len(ours) < 2:
            return ours[0] if ours else None
        ref = ref_of(manifest)
        return next((store for store in ours if speaks_for(store, ref, manifest, options)), ours[0])


class PlanExecutor:
    def __init__(
        self, dependencies: ExecutorDependencies, field_manager: str, hooks: StepHooks | None = None
    ) -> None:
        self._reach = dependencies
        self._field_manager = field_manager
        self._hooks = hooks or StepHooks()

    def acting_as(self, who: Impersonation) -> PlanExecutor:
        """Carries plans out with the rights of another account; events are still ours."""
        return PlanExecutor(self._reach.acting_as(who), self._field_manager, self._hooks)

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        """All steps, for the sake of the object that caused them."""
        outcome = PlanResult()
        for group in groups(plan):
            effects = await self._carry_group(group, cause)
            outcome.carried.extend(map(StepResult, group, effects))
        return outcome

    async def _carry_group(self, group: Plan, cause: Ref) -> list[Effect]:
        if len(group) == 1:
            return [await self._carry_alone(group[0], cause)]
        turns = asyncio.Semaphore(WRITES_OF_A_PLAN)
        found = await asyncio.gather(*(self._in_turn(step, turns) for step in group))
        failures = [
            (step, error) for step, error in zip(group, found, strict=True) if isinstance(error, Exception)
        ]
        if failures:
            raise _named(failures, cause)
        return [effect for effect in found if isinstance(effect, Effect)]

    async def _carry_alone(self, step: Step, cause: Ref) -> Effect:
        try:
            async with self._reach.narrows.of(step):
                return await self._carry(step)
        except Exception as error:
            _named([(step, error)], cause)
            raise

    async def _in_turn(self, step: Step, turns: asyncio.Semaphore) -> Effect | Exception:
        """What fails is handed back: the rest of its group finishes."""
        try:
            async with self._reach.narrows.of(step), turns:
                return await self._carry(step)
        except Exception as error:
            return error

    async def _carry(self, step: Step) -> Effect:
        async with self._reach.turns:
            self._hooks.before(step)
            with self._reach.echoes.of(step):
                effect = await self._perform(step)
            self._hooks.after(step)
        return effect

    async def _perform(self, step: Step) -> Effect:
        match step:
            case Apply():
                return await self._apply(step)
            case Create():
                return await self._create(step)
            case Patch():
                return await self._patch(step)
            case Delete():
                return await self._delete(step)
            case Status():
                return await self._status(step)
            case Emit():
                return self._emit(step)
            case Hold():
                log.info("held %d: %s: %s", step.count, step.reason, step.message)
                return Effect.HELD
            case Requeue():
                return Effect.REQUEUED

    async def _apply(self, step: Apply) -> Effect:
        options = ApplyOptions(
            manager=step.manager or self._field_manager,
            force=step.force,
            only_if_absent=step.only_if_absent,
        )
        return await self._applied(step.manifest, options)

    async def _status(self, step: Status) -> Effect:
        try:
            options = ApplyOptions(manager=self._field_manager, subresource="status")
            return await self._applied(status_manifest(step), options)
        except NotFound:
            return Effect.GONE

    async def _applied(self, manifest: Manifest, options: ApplyOptions) -> Effect:
        ours = self._reach.store_for(manifest, options)
        applied = await self._reach.applier.apply(manifest, options, ours)
        self._tell_stores(kind_of(manifest), applied.body, besides=ours)
        return _OF_APPLY[applied.outcome]

    async def _create(self, step: Create) -> Effect:
        try:
            body = await self._reach.client.create(step.manifest, manager=self._field_manager)
        except AlreadyExists:
            return Effect.UNCHANGED
        self._tell_stores(step.ref.kind, body)
        return Effect.CREATED

    async def _patch(self, step: Patch) -> Effect:
        body = await self._reach.client.patch(
            step.ref, step.patch, step.subresource, manager=self._field_manager
        )
        if uid := ended_uid(body):
            self._forget(step.ref, uid)
        elif not step.subresource or step.subresource == "status":
            self._tell_stores(step.ref.kind, body)
        return Effect.CHANGED

    async def _delete(self, step: Delete) -> Effect:
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
            body = await self._reach.client.delete(step.ref, options)
        except (NotFound, Conflict) as error:
            if isinstance(error, Conflict) and step.resource_version:
                raise
            # Gone, or a namesake with another uid stands there: this very object does not exist any more.
            self._forget(step.ref, step.uid)
            return Effect.GONE
        if is_still_there(body):
            self._tell_stores(step.ref.kind, body)
        else:
            self._forget(step.ref, step.uid)
        return Effect.DELETED

    async def _evict(self, step: Delete, options: DeleteOptions) -> Effect:
        log.info("evicting %s: %s", step.ref, step.reason)
        try:
            await self._reach.client.evict(step.ref, options)
        except (DisruptionBudget, InternalError) as error:
            if not _is_of_budgets(error):
                raise
            log.info("%s stays: %s", step.ref, error)
            return Effect.FORBIDDEN
        except (NotFound, Conflict):
            self._forget(step.ref, step.uid)
            return Effect.GONE
        await self._look_again(step)
        return Effect.DELETED

    async def _look_again(self, step: Delete) -> None:
        """The answer to an eviction does not show the pod, and no reconcile may act on the world before it."""
        try:
            left = await self._reach.client.get(step.ref.kind, step.ref.key)
        except NotFound:
            self._forget(step.ref, step.uid)
            return
        if left["metadata"]["uid"] != step.uid:
            self._forget(step.ref, step.uid)
        self._tell_stores(step.ref.kind, msgspec.json.encode(left))

    def _emit(self, step: Emit) -> Effect:
        uid = step.uid or self._uid_of(step.ref)
        self._reach.events.emit(Note(step.ref, uid, step.type, step.reason, step.message))
        return Effect.TOLD

    def _uid_of(self, ref: Ref) -> str:
        found = (store.get(ref.key) for store in self._reach.stores_of(ref.kind))
        return next((seen.metadata.uid for seen in found if seen is not None), "")

    def _tell_stores(self, kind: Kind, body: bytes, besides: Store[Any] | None = None) -> None:
        if not body:
            return
        for store in self._reach.stores_of(kind):
            if store is not besides:
                store.observe(body)

    def _forget(self, ref: Ref, uid: str) -> None:
        for store in self._reach.stores_of(ref.kind):
            store.forget(ref.key, uid)


def _is_of_budgets(error: Exception) -> bool:
    """A pod with two budgets cannot be evicted at all: the server says so with an error of its own, not with a no."""
    return isinstance(error, DisruptionBudget) or "more than one PodDisruptionBudget" in str(error)


class _RemainingMeta(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    finalizers: tuple[str, ...] = ()


class _Remaining(msgspec.Struct, frozen=True):
    kind: str = ""
    metadata: _RemainingMeta = _RemainingMeta()


def is_still_there(body: bytes) -> bool:
    """Whether the answer of a delete shows an object that lives on, for its finalizers or its grace."""
    left = msgspec.json.decode(body, type=_Remaining)
    if left.kind == "Status" or left.metadata.deletion_timestamp is None:
        return False
    return bool(left.metadata.finalizers or left.metadata.deletion_grace_period_seconds)


def ended_uid(body: bytes) -> str:
    """Of an object that a patch has taken the last finalizer from: with the answer it is gone."""
    left = msgspec.json.decode(body, type=_Remaining)
    is_ended = left.metadata.deletion_timestamp is not None and not is_still_there(body)
    return left.metadata.uid if is_ended else ""


_VERBS: dict[type[Any], str] = {
    Apply: "applying",
    Create: "creating",
    Patch: "patching",
    Delete: "deleting",
    Status: "writing the status of",
}


def _named(failures: list[tuple[Step, Exception]], cause: Ref) -> Exception:
    """The first error, with the objects named; its type stays what it is."""
    first = failures[0][1]
    for step, error in failures:
        what = f"{_VERBS.get(type(step), 'carrying out')} {about(step)} for {cause}"
        first.add_note(f"while {what}" if error is first else f"also failed: {what}: {error}")
    return first
