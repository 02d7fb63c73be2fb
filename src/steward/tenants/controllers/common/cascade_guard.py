"""Plans the deletion of a registry or a template together with its Tenants, within the limits of the deletion guard.

The Tenants are deleted first; the finalizer of the registry or template is removed when none of them is left. Tenants
that are terminating already, deleted by a user or with their namespace, do not count. An approval names the whole set,
and a crash may leave a part of it, so its use is written to the status before the first Tenant is deleted. No Tenant
joins a registry or template that is terminating, so whatever is left of an approved set is approved.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.conditions import Conditions
from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Delete, Emit, EventType, Hold, Plan
from steward.tenants import reasons
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.fleet.fleet import guarded_tenants, is_terminating
from steward.tenants.guard import approval
from steward.tenants.guard.cascade import CascadeDeletion, cascade_hold
from steward.tenants.status.conditions import DELETION_HELD, has_changed, held_condition, previous_stall
from steward.tenants.views import Tenant


class CascadeRequest(NamedTuple):
    """A registry or template that is terminating, with the Tenants that are deleted with it."""

    ref: Ref
    tenants: Sequence[Tenant]
    fleet: Sequence[Tenant]
    """All Tenants of the registry: the limits are shares of these."""
    registry_spec: dict[str, Any]
    """Empty when the registry no longer exists."""
    approval: str
    previous_conditions: Conditions

    def deletion(self) -> CascadeDeletion:
        return CascadeDeletion(
            guarded_tenants(self.tenants), guarded_tenants(self.fleet), self.registry_spec, self.approval
        )


class CascadeDecision(NamedTuple):
    plan: Plan
    hold: approval.DeletionHold | None
    is_released: bool = False
    """The deletion was held and is approved now: to be written to the status before the plan is executed."""
    stall: str = ""
    """Why an earlier attempt at these deletions was rejected: to be kept in the status until they succeed."""


def decide_cascade(request: CascadeRequest) -> CascadeDecision:
    unapproved = cascade_hold(request.deletion()._replace(approval=""))
    is_released = was_released(request.previous_conditions)
    hold = None if is_released else cascade_hold(request.deletion())
    if hold is None:
        deletions = tuple(_deletions(request))
        stall = previous_stall(request.previous_conditions) if deletions else ""
        return CascadeDecision(deletions, None, is_released or unapproved is not None, stall)
    event = Emit(request.ref, reasons.DELETION_HELD, hold.message, EventType.WARNING)
    events = (event,) if has_changed(request.previous_conditions, held_condition(hold)) else ()
    return CascadeDecision((Hold(hold.size, hold.reason.value, hold.message), *events), hold)


def was_released(previous: Conditions) -> bool:
    return any(each.type == DELETION_HELD and each.reason == reasons.DELETION_RELEASED for each in previous)


def _deletions(request: CascadeRequest) -> Iterable[Delete]:
    reason = f"{request.ref} is being deleted"
    for tenant in request.tenants:
        if not is_terminating(tenant):
            meta = tenant.metadata
            yield Delete(Ref(TENANT_KIND, Key(meta.namespace, meta.name)), meta.uid, reason)
