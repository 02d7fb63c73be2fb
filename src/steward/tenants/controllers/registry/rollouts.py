"""Chooses the Tenants that may be written now: all of them, or as many as the rollout of each template allows.

The progress of each Tenant is read from the API server, not from a cache that may be older than the last writes: see
`rollout_progress`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import Rollout, RolloutStatus
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.registry.rollout_progress import (
    LiveTenants,
    Names,
    TenantsByName,
    in_progress,
    is_updated,
)
from steward.tenants.fleet.fleet import is_ready
from steward.tenants.fleet.rollout import RolloutStep, RolloutTarget, TenantRollout, next_rollout_step
from steward.tenants.rendering.tenant_manifest import ActiveTemplate, DesiredTenant

NO_NAMES: Names = frozenset()


class RolloutHistory(NamedTuple):
    """What is known from the previous batches."""

    statuses: Mapping[str, RolloutStatus | None]
    """By template: the status of its rollout."""
    in_progress: Names | None = None
    """Names of the Tenants in progress; None if not known: then all are listed."""
    rejected: Names = NO_NAMES
    """Names of the Tenants that could not be written: no other has to wait for them."""


class RolloutBatch(NamedTuple):
    """The Tenants that may be written, and when to check again."""

    write: tuple[DesiredTenant, ...]
    is_unfinished: bool = False
    """Whether a rollout is in progress: Tenants are left for later, or are not ready yet."""
    recheck_at: float | None = None
    events: Plan = ()
    in_progress: Names | None = None
    """Names of the Tenants that count against maxSkew, those of this batch included; None without maxSkew."""


class Rollouts:
    def __init__(self, context: TenantsContext) -> None:
        self._context = context
        self._live = LiveTenants(context)

    async def next_batch(
        self, desired: Sequence[DesiredTenant], registry: ObjectMeta, history: RolloutHistory
    ) -> RolloutBatch:
        fleets: dict[str, list[DesiredTenant]] = defaultdict(list)
        for each in desired:
            fleets[each.template.name].append(each)
        if not is_any_limited(found[0].template for found in fleets.values()):
            return _merge_batches([self._batch_of(found, {}, registry, history) for found in fleets.values()])
        tenants = await self._live.read(desired, registry, history.in_progress)
        if history.in_progress is not None and any(
            self._gives_up(found, tenants, history) for found in fleets.values()
        ):
            # A failed rollout stays failed until the template is edited: a stale cache must not cause it.
            tenants = await self._live.list_all(registry)
        return _merge_batches(
            [self._batch_of(found, tenants, registry, history) for found in fleets.values()]
        )

    def _gives_up(
        self, desired: list[DesiredTenant], tenants: TenantsByName, history: RolloutHistory
    ) -> bool:
        """Whether this batch would be the one that gives up the rollout."""
        status, known = (
            self._step(desired, tenants, history).status,
            history.statuses.get(desired[0].template.name),
        )
        return status is not None and status.phase == "Failed" and not _is_same_phase(status, known)

    def _step(
        self, desired: list[DesiredTenant], tenants: TenantsByName, history: RolloutHistory
    ) -> RolloutStep:
        template = desired[0].template
        target = RolloutTarget(template.generation, _rollout(template))
        progress = [_progress(each, tenants, history.rejected) for each in desired]
        return next_rollout_step(
            progress, target, history.statuses.get(template.name), self._context.clock.now()
        )

    def _batch_of(
        self,
        desired: list[DesiredTenant],
        tenants: TenantsByName,
        registry: ObjectMeta,
        history: RolloutHistory,
    ) -> RolloutBatch:
        name = desired[0].template.name
        key = Key(registry.namespace, name)
        step = self._step(desired, tenants, history)
        self._context.rollouts.report(key, step.status)
        if step.status is None:
            return RolloutBatch(tuple(desired))
        batch = _throttled_batch(desired, tenants, step)
        waiting = len(desired) - len(batch.write)
        known = history.statuses.get(name)
        return batch._replace(events=rollout_events(Ref(TEMPLATE, key), step.status, known, waiting))


def _throttled_batch(desired: list[DesiredTenant], tenants: TenantsByName, step: RolloutStep) -> RolloutBatch:
    """The chosen Tenants, and those that have this version already: changed rows of these do not wait."""
    chosen = frozenset(step.write)
    write = tuple(each for each in desired if each.name in chosen or is_updated(each, tenants))
    is_unfinished = step.status is not None and step.status.phase == "InProgress"
    return RolloutBatch(
        write, is_unfinished, step.recheck_at, in_progress=in_progress(desired, tenants) | chosen
    )


def _merge_batches(batches: Sequence[RolloutBatch]) -> RolloutBatch:
    times = [batch.recheck_at for batch in batches if batch.recheck_at is not None]
    counted = [batch.in_progress for batch in batches if batch.in_progress is not None]
    return RolloutBatch(
        write=tuple(each for batch in batches for each in batch.write),
        is_unfinished=any(batch.is_unfinished for batch in batches),
        recheck_at=min(times, default=None),
        events=tuple(step for batch in batches for step in batch.events),
        in_progress=NO_NAMES.union(*counted) if counted else None,
    )


def rollout_events(
    template: Ref, now: RolloutStatus | None, previous: RolloutStatus | None, waiting: int
) -> Plan:
    """That a rollout failed, and that Tenants wait for others: each once for a generation of the template."""
    if now is None:
        return ()
    known = previous if previous is not None and previous.target_generation == now.target_generation else None
    if now.phase == "Failed" and (known is None or known.phase != "Failed"):
        return (Emit(template, reasons.ROLLOUT_FAILED, str(now.message), EventType.WARNING),)
    if now.phase == "InProgress" and waiting and known is None:
        message = f"{waiting} Tenants wait until others have rolled out, as maxSkew says: {now.message}"
        return (Emit(template, reasons.ROLLOUT_THROTTLED, message),)
    return ()


def _is_same_phase(now: RolloutStatus, previous: RolloutStatus | None) -> bool:
    if previous is None:
        return False
    return (now.phase, now.target_generation) == (previous.phase, previous.target_generation)


def _progress(desired: DesiredTenant, tenants: TenantsByName, rejected: Names) -> TenantRollout:
    is_rejected = desired.name in rejected
    tenant = tenants.get(desired.name)
    if tenant is None:
        return TenantRollout(desired.name, 0, is_rejected=is_rejected)
    created = tenant.metadata.creation_timestamp
    created_at = from_timestamp(created) if created else 0.0
    return TenantRollout(
        desired.name, tenant.spec.template_generation, is_ready(tenant), created_at, is_rejected
    )


def is_any_limited(templates: Iterable[ActiveTemplate]) -> bool:
    """Whether a rollout depends on which Tenants are ready."""
    return any(_rollout(template).max_skew for template in templates)


def _rollout(template: ActiveTemplate) -> Rollout:
    return Rollout() if template.spec.rollout is UNSET else template.spec.rollout
