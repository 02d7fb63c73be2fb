"""From a verdict of the deletion guard to what is written. Pure.

Marks are written before the approval is taken away: a crash in between finds the same set, and the approval still
names it.
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
from steward.tenants.guard.judge import Mark, Verdict
from steward.tenants.status.conditions import DELETION_HELD, has_turned, held
from steward.tenants.views import Tenant

NOT_WANTED = "its row is gone or inactive, or its template uses another registry"


class Sentence(NamedTuple):
    """A verdict on the Tenants of a registry."""

    registry: Ref
    verdict: Verdict
    tenants: Mapping[str, Tenant]
    before: Conditions


def plan_of(sentence: Sentence) -> Plan:
    verdict = sentence.verdict
    return (
        *(_annotated(sentence, mark.name, _time_of(mark)) for mark in verdict.mark),
        *(_annotated(sentence, name, None) for name in verdict.unmark),
        *(_spent(sentence) if verdict.approval_is_spent else ()),
        *(step for name in verdict.delete for step in _deletion(sentence, name)),
        *_news(sentence),
        *_attrition(sentence),
    )


def _time_of(mark: Mark) -> str:
    return to_timestamp(mark.delete_after)


def _annotated(sentence: Sentence, name: str, value: str | None) -> Patch:
    ref = Ref(TENANT_KIND, Key(sentence.registry.key.namespace, name))
    return Patch(ref, MergePatch({"metadata": {"annotations": {labels.DELETE_AFTER: value}}}))


def _spent(sentence: Sentence) -> Plan:
    patch = MergePatch({"metadata": {"annotations": {labels.APPROVE_DELETION: None}}})
    return (Patch(sentence.registry, patch),)


def _deletion(sentence: Sentence, name: str) -> Plan:
    tenant = sentence.tenants.get(name)
    if tenant is None:
        return ()
    ref = Ref(TENANT_KIND, Key(sentence.registry.key.namespace, name))
    return (
        Emit(sentence.registry, reasons.TENANT_DELETING, f"Tenant {name} is being deleted: {NOT_WANTED}"),
        Delete(ref, tenant.metadata.uid, NOT_WANTED),
    )


def _news(sentence: Sentence) -> Plan:
    hold = sentence.verdict.hold
    if hold is None:
        was_held = any(each.type == DELETION_HELD and each.status == "True" for each in sentence.before)
        told = "the held deletion is released: it was approved, or its rows are back"
        return (Emit(sentence.registry, reasons.DELETION_RELEASED, told),) if was_held else ()
    said = held(hold)
    news = (Emit(sentence.registry, reasons.DELETION_HELD, hold.message, EventType.WARNING),)
    return (
        Hold(hold.size, hold.reason.value, hold.message),
        *(news if has_turned(sentence.before, said) else ()),
    )


def _attrition(sentence: Sentence) -> Plan:
    gone = sentence.verdict.gone_lately
    if not gone:
        return ()
    told = (
        f"{gone} Tenants went within the last hour, a few at a time: together a larger share than "
        "deletionGuard.maxPercent lets go at once, and nothing was held. Find out who deletes or deactivates the rows; "
        "with deletionGuard.gracePeriod there is time to bring them back"
    )
    return (Emit(sentence.registry, reasons.MANY_DELETED, told, EventType.WARNING),)
