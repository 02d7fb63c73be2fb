"""Events: a condition that was not so before is told once. Pure."""

from collections.abc import Iterable

from steward.kube.objects.conditions import Condition, find_condition
from steward.kube.objects.kinds import Ref
from steward.multigres import reasons
from steward.multigres.api.scalars import Unset
from steward.multigres.api.status import Conditions
from steward.multigres.status.conditions import read_conditions
from steward.runtime.plan.steps import Emit, EventType, Plan

WORRYING = frozenset({reasons.ROLLOUT_STOPPED, reasons.VOLUMES_CANNOT_GROW, reasons.PRIMARY_WOULD_GO})
AT_REST = frozenset({reasons.PODS_UP_TO_DATE, reasons.REVISION_PENDING, reasons.VOLUMES_AS_ASKED})


def news(ref: Ref, before: Conditions | Unset, now: Iterable[Condition]) -> Plan:
    """What changed its reason. That all is at rest is no news to somebody who never heard otherwise."""
    known = read_conditions(before)
    return tuple(_event(ref, condition) for condition in now if _is_new(condition, known))


def _is_new(condition: Condition, known: Iterable[Condition]) -> bool:
    before = find_condition(known, condition.type)
    if before is None or before.reason in AT_REST:
        return condition.reason not in AT_REST
    return before.reason != condition.reason


def _event(ref: Ref, condition: Condition) -> Emit:
    kind = EventType.WARNING if condition.reason in WORRYING else EventType.NORMAL
    return Emit(ref, condition.reason, condition.message, kind)
