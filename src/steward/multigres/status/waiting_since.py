"""Adds to a condition's message since when its reason has been the same. Pure.

`lastTransitionTime` changes with the status only: a rollout that waits for another reason keeps the time of its start.
The time is read from the previous message, so that it survives a restart of the operator.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from steward.kube.objects.conditions import Condition, find_condition
from steward.multigres import reasons

WAITING_REASONS = frozenset(
    {
        reasons.PRIMARY_UNKNOWN,
        reasons.STATE_UNKNOWN,
        reasons.NO_OTHER_READY,
        reasons.SWITCH_REFUSED,
        reasons.DURABILITY_WOULD_BREAK,
    }
)
"""Reasons that may last until a user acts."""

_SINCE = re.compile(r" \(since ([0-9TZ:.+-]+)\)$")


def with_since(condition: Condition, previous: Iterable[Condition], now: str) -> Condition:
    if condition.reason not in WAITING_REASONS:
        return condition
    before = find_condition(previous, condition.type)
    is_same = before is not None and before.reason == condition.reason
    found = _SINCE.search(before.message) if before is not None and is_same else None
    return replace(condition, message=f"{condition.message} (since {found[1] if found else now})")
