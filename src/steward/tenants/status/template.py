"""Derives the status of a template: whether it is valid, and how many of its Tenants are ready. Pure."""

from typing import Any, NamedTuple

import msgspec

from steward.kube.objects.conditions import RECONCILING, STALLED
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import reasons
from steward.tenants.api.template import RolloutStatus
from steward.tenants.fleet.fleet import TenantCounts
from steward.tenants.guard.approval import DeletionHold
from steward.tenants.status.conditions import (
    ConditionState,
    describe_problems,
    held_condition,
    held_deletion_status,
    merge_conditions,
    read_conditions,
    released_condition,
    stalled_condition,
)
from steward.tenants.status.pause import pause_condition
from steward.tenants.validation.problems import Problem

VALID = "Valid"
APPLIED = "Applied"
UNRESTRICTED = "Unrestricted"


class TemplateObservation(NamedTuple):
    """Everything that the status depends on."""

    metadata: ObjectMeta
    problems: tuple[Problem, ...] = ()
    active_generation: int = 0
    """The generation of the active revision; 0 before there is one."""
    counts: TenantCounts = TenantCounts()
    rollout: RolloutStatus | None = None
    hold: DeletionHold | None = None
    is_released: bool = False
    """Its deletion was held, and has been approved."""
    stall: str = ""
    """As in `RegistryObservation`."""
    is_paused: bool = False
    is_unrestricted: bool = False
    """Its Tenants write with the rights of the operator, to every namespace."""


def template_status(state: TemplateObservation, previous: dict[str, Any], now: str) -> dict[str, Any]:
    generation = state.metadata.generation
    status: dict[str, Any] = {
        "observedGeneration": generation,
        "totalTenants": state.counts.total,
        "readyTenants": state.counts.ready,
        "conditions": merge_conditions(
            read_conditions(previous), template_conditions(state), generation, now
        ),
    }
    if state.rollout is not None:
        status["rollout"] = msgspec.to_builtins(state.rollout)
    if state.hold is not None:
        status["heldDeletion"] = held_deletion_status(state.hold)
    return status


def template_conditions(state: TemplateObservation) -> list[ConditionState]:
    conditions = [valid_condition(state), applied_condition(state.counts)]
    if state.hold is not None:
        conditions.append(held_condition(state.hold))
    elif state.is_released:
        conditions.append(released_condition())
    if state.counts.ready < state.counts.total and not state.stall:
        conditions.append(
            ConditionState(
                RECONCILING, True, reasons.NOT_ALL_TENANTS_READY, applied_condition(state.counts).message
            )
        )
    if stalled := _stalled_condition(state):
        conditions.append(stalled)
    if state.is_paused:
        conditions.append(pause_condition())
    if state.is_unrestricted:
        conditions.append(_unrestricted_condition())
    return conditions


def _unrestricted_condition() -> ConditionState:
    """A condition of its own, only while it is true: the template works, and Ready and Valid must not say otherwise."""
    message = (
        "without serviceAccountName its Tenants write to every namespace with the operator's rights, because of "
        "--template-scope=cluster; set serviceAccountName, or remove the flag"
    )
    return ConditionState(UNRESTRICTED, True, reasons.OPERATOR_RIGHTS, message)


def valid_condition(state: TemplateObservation) -> ConditionState:
    if not state.problems:
        return ConditionState(VALID, True, reasons.VALIDATION_PASSED, "the template can be used")
    if state.active_generation:
        kept = f"version {state.active_generation} stays active"
    else:
        kept = "no version of it is active yet, and no row is rendered"
    return ConditionState(
        VALID, False, reasons.VALIDATION_FAILED, f"{describe_problems(state.problems)}\nUntil then {kept}."
    )


def applied_condition(counts: TenantCounts) -> ConditionState:
    if counts.total == 0:
        return ConditionState(APPLIED, False, reasons.NO_TENANTS, "there are no Tenants of this template yet")
    if counts.ready == counts.total:
        return ConditionState(
            APPLIED, True, reasons.ALL_TENANTS_READY, f"all {counts.total} Tenants are ready"
        )
    message = f"{counts.ready}/{counts.total} Tenants are ready"
    return ConditionState(APPLIED, False, reasons.NOT_ALL_TENANTS_READY, message)


def _stalled_condition(state: TemplateObservation) -> ConditionState | None:
    if state.stall:
        return stalled_condition(state.stall)
    if state.problems:
        return ConditionState(STALLED, True, reasons.VALIDATION_FAILED, describe_problems(state.problems[:1]))
    if state.rollout is not None and state.rollout.phase == "Failed":
        return ConditionState(STALLED, True, reasons.ROLLOUT_FAILED, str(state.rollout.message))
    if state.hold is not None:
        return ConditionState(STALLED, True, reasons.DELETION_HELD, state.hold.message)
    return None
