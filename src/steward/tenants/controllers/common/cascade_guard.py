"""A template or a registry that goes with its Tenants: no read of a table, but as deadly, and guarded alike.

What may go is deleted, and the finalizer falls when nothing of it is left. Tenants that are being deleted already, by
somebody else or with their namespace, are nobody's decision any more. An approval names the whole set, and a crash may
leave a part of it: so it is written down as used before the first Tenant goes. No Tenant joins what is on its way out,
and what is left of an approved set is approved.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from steward.kube.objects.conditions import Conditions
from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Delete, Emit, EventType, Hold, Plan
from steward.tenants import reasons
from steward.tenants.api.registry import DeletionGuard
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.fleet.fleet import is_staying, known
from steward.tenants.guard import approval
from steward.tenants.guard.judge import Policy, Situation, judge_departure, policy_of
from steward.tenants.status.conditions import DELETION_HELD, has_turned, held
from steward.tenants.views import Tenant


class Departure(NamedTuple):
    ref: Ref
    """The registry or template that goes."""
    leaving: Sequence[Tenant]
    fleet: Sequence[Tenant]
    """All Tenants of the registry: the limits are shares of these."""
    registry: dict[str, Any]
    """The registry's spec; empty when there is none any more."""
    approval: str
    before: Conditions


class Leaving(NamedTuple):
    plan: Plan
    hold: approval.Hold | None
    is_released: bool = False
    """It was held, and somebody has named its Tenants: to be written down before the plan is carried out."""


def hold_of(departure: Departure) -> approval.Hold | None:
    """Why it may not go now, if it may not."""
    situation = Situation(
        known=known(departure.fleet),
        policy=departure_policy(departure.registry),
        approval=departure.approval,
    )
    return judge_departure(known(departure.leaving), situation)


def departing(departure: Departure) -> Leaving:
    unapproved = hold_of(departure._replace(approval=""))
    is_released = was_released(departure.before)
    hold = None if is_released else hold_of(departure)
    if hold is None:
        return Leaving(tuple(_deletions(departure)), None, is_released or unapproved is not None)
    news = (Emit(departure.ref, reasons.DELETION_HELD, hold.message, EventType.WARNING),)
    told = news if has_turned(departure.before, held(hold)) else ()
    return Leaving((Hold(hold.size, hold.reason.value, hold.message), *told), hold)


def was_released(before: Conditions) -> bool:
    return any(each.type == DELETION_HELD and each.reason == reasons.DELETION_RELEASED for each in before)


def _deletions(departure: Departure) -> Iterable[Delete]:
    why = f"{departure.ref} is being deleted"
    for tenant in departure.leaving:
        if is_staying(tenant):
            meta = tenant.metadata
            yield Delete(Ref(TENANT_KIND, Key(meta.namespace, meta.name)), meta.uid, why)


def departure_policy(registry: dict[str, Any]) -> Policy:
    """The limits that the registry sets. One whose guard cannot be read has those of the default: never none."""
    try:
        return policy_of(msgspec.convert(registry.get("deletionGuard") or {}, DeletionGuard), 0.0)
    except (msgspec.ValidationError, ValueError):
        return policy_of(DeletionGuard(), 0.0)
