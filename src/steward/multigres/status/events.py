"""Events for conditions whose reason changed. Pure."""

from collections.abc import Iterable

from steward.kube.objects.conditions import Condition, find_condition
from steward.kube.objects.kinds import Ref
from steward.multigres import reasons
from steward.multigres.api.scalars import Unset
from steward.multigres.api.status import Conditions
from steward.multigres.status.conditions import read_conditions
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.runtime.status.transitions import condition_event

WARNING_REASONS = frozenset(
    {
        reasons.ROLLOUT_STOPPED,
        reasons.VOLUMES_CANNOT_GROW,
        reasons.DURABILITY_WOULD_BREAK,
        reasons.SWITCH_REFUSED,
        reasons.STATE_UNKNOWN,
        reasons.RESTARTING_ONLY_SERVER,
        reasons.SETTINGS_REFUSED,
        reasons.SETTINGS_MISSING,
        reasons.SETTINGS_UNKNOWN,
        reasons.PASSWORD_REFUSED,
        reasons.RESTORE_BLOCKED,
        reasons.ROLES_REFUSED,
    }
)
IDLE_REASONS = frozenset(
    {reasons.PODS_UP_TO_DATE, reasons.REVISION_PENDING, reasons.VOLUMES_AS_ASKED, reasons.ROLES_WAITING}
)


def condition_events(ref: Ref, previous: Conditions | Unset, current: Iterable[Condition]) -> Plan:
    """One event per condition whose reason changed. A first condition with an idle reason emits none."""
    known = read_conditions(previous)
    return tuple(_event(ref, condition) for condition in current if _is_new(condition, known))


def _is_new(condition: Condition, previous: Iterable[Condition]) -> bool:
    old = find_condition(previous, condition.type)
    if old is None or old.reason in IDLE_REASONS:
        return condition.reason not in IDLE_REASONS
    return old.reason != condition.reason


def _event(ref: Ref, condition: Condition) -> Emit:
    kind = EventType.WARNING if condition.reason in WARNING_REASONS else EventType.NORMAL
    return condition_event(ref, condition, kind)
