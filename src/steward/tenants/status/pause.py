"""The condition Paused of registries, templates and Tenants, which only exists while it is true. Pure."""

from typing import Any, Final

from steward.kube.objects.conditions import (
    RECONCILING,
    STALLED,
    TRUE,
    Condition,
    condition_manifests,
    find_condition,
    set_conditions,
    without_condition,
)
from steward.tenants import reasons
from steward.tenants.status.conditions import ConditionState, read_conditions
from steward.tenants.views import Tenant

PAUSED: Final = "Paused"
MESSAGE: Final = "nothing is changed until spec.paused is false"


def is_paused(spec: dict[str, Any]) -> bool:
    return spec.get("paused") is True


def pause_condition() -> ConditionState:
    return ConditionState(PAUSED, True, reasons.PAUSED, MESSAGE)


def paused_status(previous: dict[str, Any], generation: int, now: str) -> dict[str, Any]:
    """The last status, and that nothing is changed since. Nothing is in progress either."""
    kept = without_condition(without_condition(read_conditions(previous), RECONCILING), STALLED)
    condition = Condition(PAUSED, TRUE, reasons.PAUSED, MESSAGE, generation)
    conditions = set_conditions(kept, (condition,), now)
    return {**previous, "observedGeneration": generation, "conditions": condition_manifests(conditions)}


def is_reported(previous: dict[str, Any]) -> bool:
    return find_condition(read_conditions(previous), PAUSED) is not None


def unpaused(tenants: list[Tenant], paused_templates: frozenset[str]) -> list[Tenant]:
    """The Tenants that may be deleted."""
    return [
        each for each in tenants if not each.spec.paused and each.spec.template_ref not in paused_templates
    ]
