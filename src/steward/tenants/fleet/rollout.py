"""How a change of a template reaches its Tenants: at most `maxSkew` under way at once, and no further than it works.

A Tenant is under way from the moment it is written until its objects are rolled out, new Tenants included. The states
come from the API server, read after our own last write: counted from a cache that lags, two would go at once.

A version that has reached every Tenant works, and cannot fail any more. A Tenant that is not ready later on has a
trouble of its own, and so has a newcomer that takes longer than the deadline: neither keeps the next one waiting.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.tenants.api.scalars import UNSET, RolloutPhase, Unset
from steward.tenants.api.template import Rollout, RolloutStatus


class Progress(NamedTuple):
    """How far one Tenant is. Generation 0 is a Tenant that is still to be made."""

    name: str
    generation: int
    """The generation of the template that it was rendered from."""
    is_rolled_out: bool = False
    """Observed, ready, and with all its workloads on the new version."""
    made_at: float = 0.0
    is_refused: bool = False
    """Whether the last try to write it was refused, for a fault of its row."""


class Target(NamedTuple):
    """Where all Tenants of a template are to go, and how."""

    generation: int
    rollout: Rollout


class Step(NamedTuple):
    """What may be written now, and what is to be said."""

    write: tuple[str, ...]
    status: RolloutStatus | None
    """None where Tenants are not held back, and there is nothing to say."""
    look_again_at: float | None = None


class _Count(NamedTuple):
    total: int
    updated: int
    under_way: int

    @property
    def ready(self) -> int:
        return self.updated - self.under_way


def next_step(tenants: Iterable[Progress], target: Target, before: RolloutStatus | None, now: float) -> Step:
    """Which Tenants get the target generation next: first those that are not ready, as an earlier version may have left
    them, so that one edit after another does not take more down than one; then in the order of their names. Those that
    could not be written are tried again when nobody else waits: a slot that they take is free again at once."""
    same = before if before is not None and before.target_generation == target.generation else None
    tenants = [_with_its_past(tenant, target, same, now) for tenant in sorted(tenants)]
    waiting = [tenant for tenant in tenants if tenant.generation != target.generation]
    pending = [
        tenant.name for tenant in sorted(waiting, key=lambda each: (each.is_refused, each.is_rolled_out))
    ]
    if target.rollout.max_skew == 0:
        return Step(tuple(pending), None)
    count = _counted(tenants, target.generation)
    status = _status(count, target, same, now)
    free = 0 if status.phase == "Failed" else max(0, target.rollout.max_skew - count.under_way)
    return Step(tuple(pending[:free]), status, _deadline(status, tenants, target))


def _with_its_past(tenant: Progress, target: Target, same: RolloutStatus | None, now: float) -> Progress:
    reached_at = _reached_at(same)
    if reached_at is None or tenant.generation != target.generation:
        return tenant
    is_past = tenant.made_at <= reached_at or _expiry(tenant, target) <= now
    return tenant._replace(is_rolled_out=tenant.is_rolled_out or is_past)


def _reached_at(same: RolloutStatus | None) -> float | None:
    """When the version had last reached every Tenant, if it ever had."""
    if same is None or same.phase == "Failed" or same.completion_time is UNSET:
        return None
    return from_timestamp(same.completion_time)


def _expiry(newcomer: Progress, target: Target) -> float:
    return newcomer.made_at + target.rollout.progress_deadline_seconds


def _counted(tenants: list[Progress], generation: int) -> _Count:
    updated = [tenant for tenant in tenants if tenant.generation == generation]
    under_way = sum(not tenant.is_rolled_out for tenant in updated)
    return _Count(len(tenants), len(updated), under_way)


def _status(count: _Count, target: Target, same: RolloutStatus | None, now: float) -> RolloutStatus:
    started = _kept(same, "start_time", now)
    has_moved = same is None or count.ready > (same.ready_updated_nodes or 0)
    progressed = to_timestamp(now) if has_moved else _kept(same, "last_progress_time", now)
    phase = _phase(count, target.rollout, same, now - from_timestamp(progressed))
    return RolloutStatus(
        phase=phase,
        target_generation=target.generation,
        total_nodes=count.total,
        updated_nodes=count.updated,
        updating_nodes=count.under_way,
        ready_updated_nodes=count.ready,
        start_time=started,
        last_progress_time=progressed,
        completion_time=_ended(phase, same, now),
        message=_message(phase, count, target),
    )


def _ended(phase: RolloutPhase, same: RolloutStatus | None, now: float) -> str | Unset:
    """Newcomers do not undo that it had ended before they came."""
    if phase in ("Complete", "Failed") and (same is None or same.phase != phase):
        return to_timestamp(now)
    return UNSET if same is None else same.completion_time


def _kept(same: RolloutStatus | None, field: str, now: float) -> str:
    found = UNSET if same is None else getattr(same, field)
    return to_timestamp(now) if found is UNSET else str(found)


def _phase(count: _Count, rollout: Rollout, same: RolloutStatus | None, waited: float) -> RolloutPhase:
    if count.total == 0:
        return "Idle"
    if count.ready == count.total:
        return "Complete"
    if _reached_at(same) is not None:
        return "InProgress"
    # Once failed it stays so, whatever recovers: only an edit says that the template is meant to go on.
    if same is not None and same.phase == "Failed":
        return "Failed"
    if count.under_way and waited >= rollout.progress_deadline_seconds:
        return "Failed"
    return "InProgress"


def _message(phase: RolloutPhase, count: _Count, target: Target) -> str:
    done = f"{count.ready} of {count.total} Tenants have the new version"
    if phase == "Failed":
        return (
            f"{done}; none became ready within {target.rollout.progress_deadline_seconds} seconds, "
            f"{count.under_way} are under way, and the others keep what they have. Edit the template to go on"
        )
    return f"{done}, {count.under_way} are under way"


def _deadline(status: RolloutStatus, tenants: list[Progress], target: Target) -> float | None:
    """When time alone changes something."""
    if status.phase != "InProgress" or not status.updating_nodes or status.last_progress_time is UNSET:
        return None
    if _reached_at(status) is None:
        return from_timestamp(status.last_progress_time) + target.rollout.progress_deadline_seconds
    newcomers = (each for each in tenants if each.generation == target.generation and not each.is_rolled_out)
    return min(_expiry(each, target) for each in newcomers)
