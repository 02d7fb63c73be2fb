"""One sync: what was read is put before the guard, then made into Tenants.

Rows are dropped as soon as all of them are written; only a rollout that goes on, or a failed write, keeps them longer.
"""

import random
from collections.abc import Callable
from typing import Final

from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.tenants import labels, reasons
from steward.tenants.api.registry import DeletionGuard, TenantRegistrySpec
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.registry.active_templates import TemplatesInUse
from steward.tenants.controllers.registry.guard_plan import Sentence, plan_of
from steward.tenants.controllers.registry.rollouts import Past, Rollouts
from steward.tenants.controllers.registry.state import RegistryMemory, Rest
from steward.tenants.controllers.registry.table_reads import Finished
from steward.tenants.controllers.template.reconciler import rollout_of
from steward.tenants.fleet.fleet import known
from steward.tenants.guard.judge import CleanRead, Policy, Situation, Verdict, judge, policy_of, read_of
from steward.tenants.intervals import sync_seconds
from steward.tenants.names import TenantKey, name_tenants
from steward.tenants.rendering.tenant_manifest import WantedTenant
from steward.tenants.sources.factory import identity_of
from steward.tenants.sources.rows import Rejected, Rows, columns_of, digest_of
from steward.tenants.status.conditions import conditions_of
from steward.tenants.views import Registry

JITTER: Final = 0.1
SHOWN_EVENTS: Final = 20
MOST_FAILURES: Final = 16

IsCurrent = Callable[[Key, RegistryMemory], bool]
"""Whether the registry, its templates and its table are those that the last read was begun with."""


def _always(registry: Key, memory: RegistryMemory) -> bool:
    return True


class Syncs:
    def __init__(
        self, context: ControllerContext, templates: TemplatesInUse, is_current: IsCurrent = _always
    ) -> None:
        self._context = context
        self._templates = templates
        self._is_current = is_current
        self._rollouts = Rollouts(context)
        self._fleets = context.fleets

    async def take_in(
        self, registry: Registry, spec: TenantRegistrySpec, memory: RegistryMemory, finished: Finished
    ) -> None:
        memory.inputs = finished.inputs
        interval = sync_seconds(spec.source.sync_interval)
        if finished.rows is None:
            self._failed(memory, str(finished.error), interval)
            return
        # Until all of it is done another read is due: whatever fails in between is tried again with fresh rows.
        memory.next_sync = 0.0
        memory.failures, memory.source_problem = 0, ""
        memory.last_sync = self._context.now()
        memory.active_rows = len(finished.rows.active)
        look_again_at = await self._sync(registry, spec, memory, finished)
        next_sync = self._context.clock.now() + interval * (1.0 + JITTER * random.uniform(-1.0, 1.0))
        memory.next_sync = min(next_sync, look_again_at or next_sync)

    async def _sync(
        self, registry: Registry, spec: TenantRegistrySpec, memory: RegistryMemory, finished: Finished
    ) -> float | None:
        """Judges and writes, unless both were done from the very same before and had nothing to do."""
        assert finished.rows is not None
        key = Key(registry.metadata.namespace, registry.metadata.name)
        now = Rest(digest_of(finished.rows), finished.inputs, self._fleets.version(key))
        if memory.rest == now:
            return None
        memory.rest = None
        read = _clean(finished.rows, finished.began_at, spec)
        verdict = await self._judge(registry, spec, memory, read)
        is_settled = await self.converge(registry, spec, memory, finished.rows)
        # Whatever came between, our own writes included, has moved the fleet's version on: then the next sync looks.
        if verdict.is_calm and is_settled:
            memory.rest = now
        return verdict.look_again_at

    def _failed(self, memory: RegistryMemory, problem: str, interval: float) -> None:
        """Soon again at first: a database that was only restarted is not waited for longer than it takes."""
        memory.source_problem = problem
        pause = min(interval, 2.0**memory.failures) * (1.0 + JITTER * random.random())
        memory.next_sync = self._context.clock.now() + pause
        memory.failures = min(memory.failures + 1, MOST_FAILURES)

    async def _judge(
        self, registry: Registry, spec: TenantRegistrySpec, memory: RegistryMemory, read: CleanRead
    ) -> Verdict:
        meta = registry.metadata
        key = Key(meta.namespace, meta.name)
        fleet = self._fleets.of(key)
        situation = Situation(
            known=known(fleet),
            policy=policy(spec),
            elsewhere=self._templates.elsewhere(key, {tenant.spec.template_ref for tenant in fleet}),
            approval=meta.annotations.get(labels.APPROVE_DELETION, ""),
            memory=memory.guard,
        )
        verdict = judge(read, situation)
        by_name = {tenant.metadata.name: tenant for tenant in fleet}
        sentence = Sentence(Ref(REGISTRY, key), verdict, by_name, conditions_of(registry.status))
        memory.writer.forget(Key(meta.namespace, name) for name in verdict.delete)
        await self.execute(sentence)
        memory.guard = verdict.memory
        memory.deleting.update(verdict.delete)
        return verdict

    async def execute(self, sentence: Sentence) -> None:
        """Carries it out. A Tenant that could not be deleted is told of, and tried again."""
        try:
            await self._carry_out(plan_of(sentence), sentence.registry.key)
        except KubeError as error:
            if sentence.verdict.delete:
                told = f"Tenants could not be deleted: {error}"
                failed = Emit(sentence.registry, reasons.TENANT_DELETION_FAILED, told, EventType.WARNING)
                await self._carry_out((failed,), sentence.registry.key)
            raise

    async def converge(
        self, registry: Registry, spec: TenantRegistrySpec, memory: RegistryMemory, rows: Rows
    ) -> bool:
        """Whether all is written, and nothing of it would turn out otherwise the next time."""
        meta = registry.metadata
        memory.pending = rows
        wanted = self._wanted(meta, spec, rows)
        with self._context.writing({Key(meta.namespace, each.template.name) for each in wanted}):
            is_written = await self._write(registry, memory, rows, wanted)
        return is_written and all(each.template.is_repeatable for each in wanted)

    async def _write(
        self, registry: Registry, memory: RegistryMemory, rows: Rows, wanted: list[WantedTenant]
    ) -> bool:
        meta = registry.metadata
        key = Key(meta.namespace, meta.name)
        memory.writer.keep_only(Key(meta.namespace, each.name) for each in wanted)
        refused = frozenset(memory.writer.refused)
        turn = await self._rollouts.turn(wanted, meta, Past(self._before(key), memory.under_way, refused))
        # Before anything is written: an answer may be lost on its way back.
        memory.under_way = turn.under_way
        written = await memory.writer.write(turn.write, meta, lambda: self._is_current(key, memory))
        rejected = (*rows.rejected, *dict.fromkeys(memory.writer.refused.values()))
        news = rejections(registry, memory.rejected, rejected)
        memory.rejected = rejected
        # The slots of those that are newly refused are for others, and no event of a Tenant would tell that.
        is_passed_on = not refused.issuperset(memory.writer.refused)
        memory.look_again_at = self._context.clock.now() if is_passed_on else turn.look_again_at
        memory.write_failure = next(iter(written.failures), None)
        goes_on = turn.waits or bool(written.failures) or written.is_cut_short
        memory.pending = rows if goes_on else None
        await self._carry_out((*turn.news, *news), key)
        return not goes_on and not memory.writer.refused

    def _before(self, registry: Key) -> dict[str, RolloutStatus | None]:
        """How far each rollout was; after a restart as the template's status has it."""
        known_ = self._context.rollouts
        return {
            template.metadata.name: known_.get(
                Key(registry.namespace, template.metadata.name), rollout_of(template)
            )
            for template in self._templates.referencing(registry)
        }

    def _wanted(self, meta: ObjectMeta, spec: TenantRegistrySpec, rows: Rows) -> list[WantedTenant]:
        """Every active row with every template in force, but for those whose Tenant is still on its way out."""
        usable = self._templates.usable(Key(meta.namespace, meta.name), spec.template_profile)
        existing = {
            TenantKey(tenant.spec.uid, tenant.spec.template_ref): tenant
            for tenant in self._fleets.tenants.list(meta.namespace)
        }
        keys = [TenantKey(row.uid, template.name) for template in usable for row in rows.active]
        names = name_tenants(keys, {key: tenant.metadata.name for key, tenant in existing.items()})
        going = {key for key, tenant in existing.items() if tenant.metadata.deletion_timestamp is not None}
        return [
            WantedTenant(names[key], row, template)
            for template in usable
            for row in rows.active
            if (key := TenantKey(row.uid, template.name)) not in going
        ]

    async def _carry_out(self, plan: Plan, key: Key) -> None:
        if plan:
            await self._context.executor.execute(plan, Ref(REGISTRY, key))


def rejections(registry: Registry, before: tuple[Rejected, ...], now: tuple[Rejected, ...]) -> Plan:
    """Says of each row that is newly rejected what is wrong with it."""
    told = {(row.shown, row.reason) for row in before}
    ref = Ref(REGISTRY, Key(registry.metadata.namespace, registry.metadata.name))
    return tuple(
        Emit(ref, reasons.ROW_REJECTED, f"row {row.shown!r}: {row.reason}", EventType.WARNING)
        for row in now[:SHOWN_EVENTS]
        if (row.shown, row.reason) not in told
    )


def policy(spec: TenantRegistrySpec) -> Policy:
    guard = DeletionGuard() if spec.deletion_guard is UNSET else spec.deletion_guard
    return policy_of(guard, sync_seconds(spec.source.sync_interval))


def _clean(rows: Rows, at: float, spec: TenantRegistrySpec) -> CleanRead:
    return read_of(rows, at, identity_of(spec.source, columns_of(spec)))
