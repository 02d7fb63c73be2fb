"""One sync of a registry: the guard decides on deletions, then rows become Tenants.

Rows are dropped as soon as all of them are written; only a rollout in progress or a failed write keeps them longer.
"""

import random
from collections.abc import Callable
from typing import Final

from steward.kube.errors import KubeError
from steward.kube.objects.durations import parse_interval
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta, key_of
from steward.runtime.observability import tracing
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.tenants import labels, reasons
from steward.tenants.api.registry import DeletionGuard, TenantRegistrySpec
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.registry.active_templates import ActiveTemplates
from steward.tenants.controllers.registry.guard_plan import RegistryDecision, guard_plan
from steward.tenants.controllers.registry.rollouts import RolloutHistory, Rollouts, is_any_limited
from steward.tenants.controllers.registry.state import RegistryState, SyncVersion
from steward.tenants.controllers.registry.table_reads import FinishedRead, SyncInputs
from steward.tenants.controllers.template.reconciler import recorded_rollout
from steward.tenants.fleet.fleet import guarded_tenants
from steward.tenants.guard.decision import (
    CleanRead,
    GuardDecision,
    GuardInput,
    GuardPolicy,
    clean_read,
    decide_deletions,
    guard_policy,
)
from steward.tenants.names import TenantKey, name_tenants
from steward.tenants.rendering.tenant_manifest import DesiredTenant
from steward.tenants.sources.factory import source_identity
from steward.tenants.sources.rows import RowRejection, Rows, registry_columns, rows_digest
from steward.tenants.status.conditions import read_conditions
from steward.tenants.status.pause import unpaused
from steward.tenants.views import Registry

JITTER: Final = 0.1
MAX_REJECTION_EVENTS: Final = 20
MAX_COUNTED_FAILURES: Final = 16
SHORTEST_SYNC_SECONDS: Final = 1.0

IsCurrent = Callable[[Key, RegistryState], bool]
"""Whether the registry, its templates and its table are those at the start of the last read."""


def _always(registry: Key, state: RegistryState) -> bool:
    return True


class RegistrySyncer:
    def __init__(
        self, context: TenantsContext, templates: ActiveTemplates, is_current: IsCurrent = _always
    ) -> None:
        self._context = context
        self._templates = templates
        self._is_current = is_current
        self._rollouts = Rollouts(context)
        self._fleets = context.fleets

    async def handle_read(
        self, registry: Registry, spec: TenantRegistrySpec, state: RegistryState, finished: FinishedRead
    ) -> None:
        state.inputs = finished.inputs
        interval = sync_interval_seconds(spec)
        if finished.rows is None:
            state.last_request = finished.inputs.request
            self._record_failure(state, str(finished.error), interval)
            return
        # Until the sync is complete another read is due: an error in between is retried with new rows.
        state.next_sync = 0.0
        state.failures, state.source_problem = 0, ""
        state.last_sync = self._context.now()
        state.active_rows, state.inactive_rows = len(finished.rows.active), len(finished.rows.inactive)
        state.last_duration = f"{finished.seconds:.2f}s"
        recheck_at = await self._sync(registry, spec, state, finished)
        state.last_request = finished.inputs.request
        pause = interval * (1.0 + JITTER * random.uniform(-1.0, 1.0))
        if recheck_at is not None:
            pause = min(pause, max(0.0, recheck_at - self._context.deletion_time()))
        state.next_sync = self._context.clock.monotonic() + pause

    async def _sync(
        self, registry: Registry, spec: TenantRegistrySpec, state: RegistryState, finished: FinishedRead
    ) -> float | None:
        """Guards and writes, unless the last sync had the same version and nothing to do. Returns when to read
        again."""
        assert finished.rows is not None
        key = key_of(registry)
        version = self._version(key, spec, finished.rows, finished.inputs)
        if state.last_no_op == version:
            return None
        state.last_no_op = None
        read_at = min(finished.started_at, self._context.deletion_time())
        read = _guard_read(finished.rows, read_at, spec)
        decision = await self._guard_deletions(registry, spec, state, read)
        is_complete = await self.write_tenants(registry, spec, state, finished.rows)
        # Any change in between, the operator's own writes included, has increased the version of the fleet.
        if decision.is_idle and is_complete:
            state.last_no_op = version
        return decision.recheck_at

    def _version(self, key: Key, spec: TenantRegistrySpec, rows: Rows, inputs: SyncInputs) -> SyncVersion:
        is_limited = is_any_limited(self._templates.active(key, spec.template_profile))
        statuses = self._fleets.status_version(key) if is_limited else 0
        return SyncVersion(rows_digest(rows), inputs, self._fleets.version(key), statuses)

    def _record_failure(self, state: RegistryState, problem: str, interval: float) -> None:
        """Retries soon at first: a database that was only restarted is back within seconds."""
        state.source_problem = problem
        pause = min(interval, 2.0**state.failures) * (1.0 + JITTER * random.random())
        state.next_sync = self._context.clock.monotonic() + pause
        state.failures = min(state.failures + 1, MAX_COUNTED_FAILURES)

    async def _guard_deletions(
        self, registry: Registry, spec: TenantRegistrySpec, state: RegistryState, read: CleanRead
    ) -> GuardDecision:
        meta, key = registry.metadata, key_of(registry)
        fleet = self._fleets.tenants_of(key)
        guard_input = GuardInput(
            tenants=guarded_tenants(unpaused(fleet, self._templates.paused(key))),
            policy=registry_guard_policy(spec),
            other_registry_templates=self._templates.using_other_registry(
                key, {tenant.spec.template_ref for tenant in fleet}
            ),
            approval=meta.annotations.get(labels.APPROVE_DELETION, ""),
            state=state.guard,
        )
        decision = decide_deletions(read, guard_input)
        by_name = {tenant.metadata.name: tenant for tenant in fleet}
        registry_decision = RegistryDecision(
            Ref(REGISTRY, key), decision, by_name, read_conditions(registry.status)
        )
        state.writer.forget(Key(meta.namespace, name) for name in decision.delete)
        await self.execute_decision(registry_decision)
        state.guard = decision.state
        state.deleting.update(decision.delete)
        return decision

    async def execute_decision(self, registry_decision: RegistryDecision) -> None:
        """Executes the plan of the decision. A failed deletion is reported by an event, and retried."""
        try:
            await self._execute(guard_plan(registry_decision), registry_decision.registry.key)
        except KubeError as error:
            if registry_decision.decision.delete:
                message = f"Tenants could not be deleted: {error}"
                failed = Emit(
                    registry_decision.registry, reasons.TENANT_DELETION_FAILED, message, EventType.WARNING
                )
                await self._execute((failed,), registry_decision.registry.key)
            raise

    async def write_tenants(
        self, registry: Registry, spec: TenantRegistrySpec, state: RegistryState, rows: Rows
    ) -> bool:
        """Whether all Tenants are written, and the same rows would render the same Tenants again."""
        meta = registry.metadata
        state.pending_rows = rows
        desired = self._desired_tenants(meta, spec, rows)
        with self._context.rollouts.writing({Key(meta.namespace, each.template.name) for each in desired}):
            is_written = await self._write(registry, state, rows, desired)
        return is_written and all(each.template.is_repeatable for each in desired)

    async def _write(
        self, registry: Registry, state: RegistryState, rows: Rows, desired: list[DesiredTenant]
    ) -> bool:
        meta, key = registry.metadata, key_of(registry)
        state.writer.keep_only(Key(meta.namespace, each.name) for each in desired)
        rejected_before = frozenset(state.writer.rejected_rows)
        batch = await self._rollouts.next_batch(
            desired, meta, RolloutHistory(self._previous_rollouts(key), state.in_progress, rejected_before)
        )
        # Recorded before the writes: the answer to a write may be lost.
        state.in_progress = batch.in_progress
        with tracing.span("TenantRegistry.ReconcileTenants", Ref(REGISTRY, key)):
            result = await state.writer.write(batch.write, meta, lambda: self._is_current(key, state))
        rejected = (*rows.rejected, *dict.fromkeys(state.writer.rejected_rows.values()))
        events = rejection_events(registry, state.rejected, rejected)
        state.rejected = rejected
        # Newly rejected Tenants free their slots of the rollout, and no watch event would trigger the next batch.
        has_free_slots = not rejected_before.issuperset(state.writer.rejected_rows)
        state.recheck_at = self._context.clock.now() if has_free_slots else batch.recheck_at
        state.write_failure = next(iter(result.failures), None)
        is_unfinished = batch.is_unfinished or bool(result.failures) or result.is_aborted
        state.pending_rows = rows if is_unfinished else None
        await self._execute((*batch.events, *events), key)
        return not is_unfinished and not state.writer.rejected_rows

    def _previous_rollouts(self, registry: Key) -> dict[str, RolloutStatus | None]:
        """The last status of each rollout; after a restart from the status of its template."""
        statuses = self._context.rollouts.statuses
        return {
            template.metadata.name: statuses.get(
                Key(registry.namespace, template.metadata.name), recorded_rollout(template)
            )
            for template in self._templates.templates_of(registry)
        }

    def _desired_tenants(self, meta: ObjectMeta, spec: TenantRegistrySpec, rows: Rows) -> list[DesiredTenant]:
        """Each active row with each active template, except those whose Tenant is still terminating."""
        templates = self._templates.active(Key(meta.namespace, meta.name), spec.template_profile)
        existing = {
            TenantKey(tenant.spec.uid, tenant.spec.template_ref): tenant
            for tenant in self._fleets.tenants.list(meta.namespace)
        }
        keys = [TenantKey(row.uid, template.name) for template in templates for row in rows.active]
        names = name_tenants(keys, {key: tenant.metadata.name for key, tenant in existing.items()})
        terminating = {
            key for key, tenant in existing.items() if tenant.metadata.deletion_timestamp is not None
        }
        return [
            DesiredTenant(names[key], row, template)
            for template in templates
            for row in rows.active
            if (key := TenantKey(row.uid, template.name)) not in terminating
        ]

    async def _execute(self, plan: Plan, key: Key) -> None:
        if plan:
            await self._context.executor.execute(plan, Ref(REGISTRY, key))


def rejection_events(
    registry: Registry, previous: tuple[RowRejection, ...], now: tuple[RowRejection, ...]
) -> Plan:
    """One event for each newly rejected row."""
    known = {(row.shown, row.reason) for row in previous}
    ref = Ref(REGISTRY, key_of(registry))
    return tuple(
        Emit(ref, reasons.ROW_REJECTED, f"row {row.shown!r}: {row.reason}", EventType.WARNING)
        for row in now[:MAX_REJECTION_EVENTS]
        if (row.shown, row.reason) not in known
    )


def sync_interval_seconds(spec: TenantRegistrySpec) -> float:
    """At least a second: an interval of `0s` would read the table without a pause."""
    return max(SHORTEST_SYNC_SECONDS, parse_interval(spec.source.sync_interval))


def registry_guard_policy(spec: TenantRegistrySpec) -> GuardPolicy:
    guard = DeletionGuard() if spec.deletion_guard is UNSET else spec.deletion_guard
    return guard_policy(guard, sync_interval_seconds(spec))


def _guard_read(rows: Rows, at: float, spec: TenantRegistrySpec) -> CleanRead:
    return clean_read(rows, at, source_identity(spec.source, registry_columns(spec)))
