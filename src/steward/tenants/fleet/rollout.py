"""Decides which Tenants get a changed template next: at most `maxSkew` are updating at once. Pure.

A Tenant, new or existing, is updating from the moment it is written until its objects are rolled out. The states are
read from the API server after the operator's last write: a cache that lags would let one Tenant too many start.

A rollout that has reached every Tenant cannot fail any more. A Tenant that becomes unready later, or a new Tenant that
takes longer than the deadline, does not keep the next one waiting.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.tenants.api.scalars import UNSET, RolloutPhase, Unset
from steward.tenants.api.template import Rollout, RolloutStatus


class TenantRollout(NamedTuple):
    """The rollout state of one Tenant. Generation 0 is a Tenant that does not exist yet."""

    name: str
    generation: int
    """The generation of the template that it was rendered from."""
    is_rolled_out: bool = False
    """Observed, ready, and with all its workloads on the new version."""
    created_at: float = 0.0
    is_rejected: bool = False
    """Whether the last write was rejected because of its row."""


class RolloutTarget(NamedTuple):
    """The template generation to roll out, and the limits for it."""

    generation: int
    rollout: Rollout


class RolloutStep(NamedTuple):
    """The Tenants to write now, and the status of the rollout."""

    write: tuple[str, ...]
    status: RolloutStatus | None
    """None where the rollout is not limited, and there is nothing to report."""
    recheck_at: float | None = None


class _RolloutCounts(NamedTuple):
    total: int
    updated: int
    updating: int

    @property
    def ready(self) -> int:
        return self.updated - self.updating


def next_rollout_step(
    tenants: Iterable[TenantRollout], target: RolloutTarget, previous: RolloutStatus | None, now: float
) -> RolloutStep:
    """Which Tenants get the target generation next.

    First those that are not ready, so that several edits in a row do not make more Tenants unready than one; then by
    name. Tenants whose write was rejected come last: the slot that they take is free again at once.
    """
    same = previous if previous is not None and previous.target_generation == target.generation else None
    tenants = [_with_past_rollout(tenant, target, same, now) for tenant in sorted(tenants)]
    waiting = [tenant for tenant in tenants if tenant.generation != target.generation]
    pending = [
        tenant.name for tenant in sorted(waiting, key=lambda each: (each.is_rejected, each.is_rolled_out))
    ]
    if target.rollout.max_skew == 0:
        return RolloutStep(tuple(pending), None)
    count = _count_rollout(tenants, target.generation)
    status = _status(count, target, same, now)
    free = 0 if status.phase == "Failed" else max(0, target.rollout.max_skew - count.updating)
    return RolloutStep(tuple(pending[:free]), status, _deadline(status, tenants, target))


def _with_past_rollout(
    tenant: TenantRollout, target: RolloutTarget, same: RolloutStatus | None, now: float
) -> TenantRollout:
    completed_at = _completed_at(same)
    if completed_at is None or tenant.generation != target.generation:
        return tenant
    is_past = tenant.created_at <= completed_at or _expiry(tenant, target) <= now
    return tenant._replace(is_rolled_out=tenant.is_rolled_out or is_past)


def _completed_at(same: RolloutStatus | None) -> float | None:
    """When the generation last reached every Tenant; None if it never did."""
    if same is None or same.phase == "Failed" or same.completion_time is UNSET:
        return None
    return from_timestamp(same.completion_time)


def _expiry(tenant: TenantRollout, target: RolloutTarget) -> float:
    return tenant.created_at + target.rollout.progress_deadline_seconds


def _count_rollout(tenants: list[TenantRollout], generation: int) -> _RolloutCounts:
    updated = [tenant for tenant in tenants if tenant.generation == generation]
    updating = sum(not tenant.is_rolled_out for tenant in updated)
    return _RolloutCounts(len(tenants), len(updated), updating)


def _status(
    count: _RolloutCounts, target: RolloutTarget, same: RolloutStatus | None, now: float
) -> RolloutStatus:
    started = _previous_time(same, "start_time", now)
    has_moved = same is None or count.ready > (same.ready_updated_nodes or 0)
    progressed = to_timestamp(now) if has_moved else _previous_time(same, "last_progress_time", now)
    phase = _phase(count, target.rollout, same, now - from_timestamp(progressed))
    return RolloutStatus(
        phase=phase,
        target_generation=target.generation,
        total_nodes=count.total,
        updated_nodes=count.updated,
        updating_nodes=count.updating,
        ready_updated_nodes=count.ready,
        start_time=started,
        last_progress_time=progressed,
        completion_time=_completion_time(phase, same, now),
        message=_message(phase, count, target),
    )


def _completion_time(phase: RolloutPhase, same: RolloutStatus | None, now: float) -> str | Unset:
    """New Tenants do not reset the time at which the rollout had completed before them."""
    if phase in ("Complete", "Failed") and (same is None or same.phase != phase):
        return to_timestamp(now)
    return UNSET if same is None else same.completion_time


def _previous_time(same: RolloutStatus | None, field: str, now: float) -> str:
    found = UNSET if same is None else getattr(same, field)
    return to_timestamp(now) if found is UNSET else str(found)


def _phase(
    count: _RolloutCounts, rollout: Rollout, same: RolloutStatus | None, waited: float
) -> RolloutPhase:
    if count.total == 0:
        return "Idle"
    if count.ready == count.total:
        return "Complete"
    if _completed_at(same) is not None:
        return "InProgress"
    # A failed rollout stays failed even if Tenants recover: only an edit of the template resumes it.
    if same is not None and same.phase == "Failed":
        return "Failed"
    if count.updating and waited >= rollout.progress_deadline_seconds:
        return "Failed"
    return "InProgress"


def _message(phase: RolloutPhase, count: _RolloutCounts, target: RolloutTarget) -> str:
    done = f"{count.ready} of {count.total} Tenants have the new version"
    if phase == "Failed":
        return (
            f"{done}; none became ready within {target.rollout.progress_deadline_seconds} seconds, "
            f"{count.updating} are updating, and the others keep their version. Edit the template to continue"
        )
    return f"{done}, {count.updating} are updating"


def _deadline(status: RolloutStatus, tenants: list[TenantRollout], target: RolloutTarget) -> float | None:
    """When the passing of time alone changes the status."""
    if status.phase != "InProgress" or not status.updating_nodes or status.last_progress_time is UNSET:
        return None
    if _completed_at(status) is None:
        return from_timestamp(status.last_progress_time) + target.rollout.progress_deadline_seconds
    new_tenants = (
        each for each in tenants if each.generation == target.generation and not each.is_rolled_out
    )
    return min(_expiry(each, target) for each in new_tenants)
