"""Conditions as in the Kubernetes API conventions and kstatus. Pure.

A list keyed by type, in a stable order. `lastTransitionTime` changes only when `status` does, so that reporting the
same state twice writes nothing. The current time is a parameter.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

TRUE: Final = "True"
FALSE: Final = "False"
UNKNOWN: Final = "Unknown"

MAX_MESSAGE_LENGTH: Final = 32_768
"""The longest message that the API conventions allow; the API server rejects a status with a longer one."""

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
        """The condition as JSON for a status."""
        written: dict[str, Any] = {
            "type": self.type,
            "status": self.status,
            "reason": self.reason,
            "message": self.message[:MAX_MESSAGE_LENGTH],
            "lastTransitionTime": self.last_transition_time,
        }
        return (
            {**written, "observedGeneration": self.observed_generation}
            if self.observed_generation
            else written
        )


Conditions = tuple[Condition, ...]


class ConditionSummary(Struct, frozen=True, gc=False):
    """A condition without its message and times: most of the size of a condition that thousands of objects have."""

    type: str
    status: str = UNKNOWN
    reason: str = ""


class HasStatus(Protocol):
    @property
    def type(self) -> str: ...

    @property
    def status(self) -> str: ...


C = TypeVar("C", bound=HasStatus)


def find_condition(conditions: Iterable[C], type_: str) -> C | None:
    return next((condition for condition in conditions if condition.type == type_), None)


def is_true(conditions: Iterable[HasStatus], type_: str) -> bool:
    found = find_condition(conditions, type_)
    return found is not None and found.status == TRUE


def set_condition(conditions: Conditions, condition: Condition, now: str) -> Conditions:
    """Adds or replaces the condition; its transition time becomes `now` only when its status changes."""
    previous = find_condition(conditions, condition.type)
    kept = previous is not None and previous.status == condition.status and previous.last_transition_time
    stamped = replace(condition, last_transition_time=kept or now)
    if previous is None:
        return (*conditions, stamped)
    return tuple(stamped if other.type == condition.type else other for other in conditions)


def set_conditions(conditions: Conditions, changed: Iterable[Condition], now: str) -> Conditions:
    for condition in changed:
        conditions = set_condition(conditions, condition, now)
    return conditions


def without_condition(conditions: Conditions, type_: str) -> Conditions:
    """In kstatus, absent Reconciling and Stalled are the normal state: they are removed instead of set to False."""
    return tuple(condition for condition in conditions if condition.type != type_)


def condition_manifests(conditions: Conditions) -> list[dict[str, Any]]:
    return [condition.manifest() for condition in conditions]
