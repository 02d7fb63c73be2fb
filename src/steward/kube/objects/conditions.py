"""Conditions as the API conventions and kstatus have them. Pure.

A list keyed by type: one entry each, in a stable order. `lastTransitionTime` moves only when `status` does, so that
reporting the same world twice writes nothing. Times are handed in.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

TRUE: Final = "True"
FALSE: Final = "False"
UNKNOWN: Final = "Unknown"

READY: Final = "Ready"
RECONCILING: Final = "Reconciling"
STALLED: Final = "Stalled"


class Condition(Struct, rename="camel", frozen=True, gc=False):
    type: str
    status: str = UNKNOWN
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: str | None = None

    def manifest(self) -> dict[str, Any]:
        """As it is written into a status."""
        written: dict[str, Any] = {
            "type": self.type,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastTransitionTime": self.last_transition_time,
        }
        return (
            {**written, "observedGeneration": self.observed_generation}
            if self.observed_generation
            else written
        )


Conditions = tuple[Condition, ...]


def find_condition(conditions: Iterable[Condition], type_: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(conditions: Iterable[Condition], type_: str) -> bool:
    found = find_condition(conditions, type_)
    return found is not None and found.status == TRUE


def set_condition(conditions: Conditions, condition: Condition, now: str) -> Conditions:
    """The conditions with this one in its place; its time is `now` only when its status is new."""
    known = find_condition(conditions, condition.type)
    keeps = known is not None and known.status == condition.status and known.last_transition_time
    stamped = replace(condition, last_transition_time=keeps or now)
    if known is None:
        return (*conditions, stamped)
    return tuple(stamped if each.type == condition.type else each for each in conditions)


def set_conditions(conditions: Conditions, changed: Iterable[Condition], now: str) -> Conditions:
    for condition in changed:
        conditions = set_condition(conditions, condition, now)
    return conditions


def without_condition(conditions: Conditions, type_: str) -> Conditions:
    """kstatus reads the absence of Reconciling and Stalled as the normal state: they go instead of turning False."""
    return tuple(condition for condition in conditions if condition.type != type_)


def write_conditions(conditions: Conditions) -> list[dict[str, Any]]:
    return [condition.manifest() for condition in conditions]
