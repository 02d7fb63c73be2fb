"""What a template's status says: whether it can be used, and how far its Tenants are. Pure."""

from typing import Any, NamedTuple

import msgspec

from steward.kube.objects.conditions import RECONCILING, STALLED
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import reasons
from steward.tenants.api.template import RolloutStatus
from steward.tenants.fleet.fleet import Counts
from steward.tenants.guard.approval import Hold
from steward.tenants.status.conditions import Said, conditions_of, held, released, say, told_together
from steward.tenants.validation.template import Problem

VALID = "Valid"
APPLIED = "Applied"


class TemplateState(NamedTuple):
    """All that the status is made from."""

    metadata: ObjectMeta
    problems: tuple[Problem, ...] = ()
    in_force: int = 0
    """The generation that Tenants are rendered from; 0 when there is none yet."""
    counts: Counts = Counts()
    rollout: RolloutStatus | None = None
    hold: Hold | None = None
    is_released: bool = False
    """It was held, and may leave with its Tenants."""


def template_status(state: TemplateState, before: dict[str, Any], now: str) -> dict[str, Any]:
    generation = state.metadata.generation
    status: dict[str, Any] = {
        "observedGeneration": generation,
        "totalTenants": state.counts.total,
        "readyTenants": state.counts.ready,
        "conditions": say(conditions_of(before), said_of(state), generation, now),
    }
    if state.rollout is not None:
        status["rollout"] = msgspec.to_builtins(state.rollout)
    return status


def said_of(state: TemplateState) -> list[Said]:
    said = [valid(state), applied(state.counts)]
    if state.hold is not None:
        said.append(held(state.hold))
    elif state.is_released:
        said.append(released())
    if state.counts.ready < state.counts.total:
        said.append(Said(RECONCILING, True, reasons.NOT_ALL_TENANTS_READY, applied(state.counts).message))
    if stall := _stall(state):
        said.append(stall)
    return said


def valid(state: TemplateState) -> Said:
    if not state.problems:
        return Said(VALID, True, reasons.VALIDATION_PASSED, "the template can be used")
    if state.in_force:
        kept = f"version {state.in_force} stays in force"
    else:
        kept = "no version of it is in force yet, and rows wait"
    return Said(
        VALID, False, reasons.VALIDATION_FAILED, f"{told_together(state.problems)}\nUntil then {kept}."
    )


def applied(counts: Counts) -> Said:
    if counts.total == 0:
        return Said(APPLIED, False, reasons.NO_TENANTS, "there are no Tenants of this template yet")
    if counts.ready == counts.total:
        return Said(APPLIED, True, reasons.ALL_TENANTS_READY, f"all {counts.total} Tenants are ready")
    told = f"{counts.ready}/{counts.total} Tenants are ready"
    return Said(APPLIED, False, reasons.NOT_ALL_TENANTS_READY, told)


def _stall(state: TemplateState) -> Said | None:
    if state.problems:
        return Said(STALLED, True, reasons.VALIDATION_FAILED, told_together(state.problems[:1]))
    if state.rollout is not None and state.rollout.phase == "Failed":
        return Said(STALLED, True, reasons.ROLLOUT_FAILED, str(state.rollout.message))
    if state.hold is not None:
        return Said(STALLED, True, reasons.DELETION_HELD, state.hold.message)
    return None
