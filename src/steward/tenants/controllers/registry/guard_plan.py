"""Turns a decision of the deletion guard into a plan. Pure.

Marks are written before the approval is removed: after a crash in between, the guard finds the same set, and the
approval still names it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from steward.kube.objects.conditions import Conditions
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import to_timestamp
from steward.runtime.plan.steps import Delete, Emit, EventType, Hold, Patch, Plan
from steward.tenants import labels, reasons
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.guard.decision import DeletionMark, GuardDecision
from steward.tenants.status.conditions import DELETION_HELD, has_changed, held_condition
from steward.tenants.views import Tenant

NOT_DESIRED = "its row is gone or inactive, or its template uses another registry"


class RegistryDecision(NamedTuple):
    """A decision of the guard on the Tenants of a registry."""

    registry: Ref
    decision: GuardDecision
    tenants: Mapping[str, Tenant]
    previous: Conditions


def guard_plan(decision: RegistryDecision) -> Plan:
    decided = decision.decision
    return (
        *(_mark_step(decision, mark.name, _mark_time(mark)) for mark in decided.mark),
        *(_mark_step(decision, name, None) for name in decided.unmark),
        *(_remove_approval(decision) if decided.approval_is_obsolete else ()),
        *(step for name in decided.delete for step in _deletion_steps(decision, name)),
        *_hold_steps(decision),
        *_deletion_rate_events(decision),
    )


def _mark_time(mark: DeletionMark) -> str:
    return to_timestamp(mark.delete_after)


def _mark_step(decision: RegistryDecision, name: str, value: str | None) -> Patch:
    ref = Ref(TENANT_KIND, Key(decision.registry.key.namespace, name))
    return Patch(ref, MergePatch({"metadata": {"annotations": {labels.DELETE_AFTER: value}}}))


def _remove_approval(decision: RegistryDecision) -> Plan:
    patch = MergePatch({"metadata": {"annotations": {labels.APPROVE_DELETION: None}}})
    return (Patch(decision.registry, patch),)


def _deletion_steps(decision: RegistryDecision, name: str) -> Plan:
    tenant = decision.tenants.get(name)
    if tenant is None:
        return ()
    ref = Ref(TENANT_KIND, Key(decision.registry.key.namespace, name))
    return (
        Emit(decision.registry, reasons.TENANT_DELETING, f"Tenant {name} is being deleted: {NOT_DESIRED}"),
        Delete(ref, tenant.metadata.uid, NOT_DESIRED),
    )


def _hold_steps(decision: RegistryDecision) -> Plan:
    hold = decision.decision.hold
    if hold is None:
        was_held = any(each.type == DELETION_HELD and each.status == "True" for each in decision.previous)
        message = "the held deletion is released: it was approved, or its rows are back"
        return (Emit(decision.registry, reasons.DELETION_RELEASED, message),) if was_held else ()
    event = Emit(decision.registry, reasons.DELETION_HELD, hold.message, EventType.WARNING)
    is_new = has_changed(decision.previous, held_condition(hold))
    return (Hold(hold.size, hold.reason.value, hold.message), *((event,) if is_new else ()))


def _deletion_rate_events(decision: RegistryDecision) -> Plan:
    deleted = decision.decision.deleted_last_hour
    if not deleted:
        return ()
    message = (
        f"{deleted} Tenants were deleted within the last hour, a few at a time: together a larger share than "
        "deletionGuard.maxPercent allows at once, and nothing was held. Find out what deletes or deactivates the rows; "
        "deletionGuard.gracePeriod gives time to restore them"
    )
    return (Emit(decision.registry, reasons.MANY_DELETED, message, EventType.WARNING),)
