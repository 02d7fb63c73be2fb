"""Reports a desired child that is being deleted. Pure.

A deletion cannot be undone: the child ends, and is created again once it is gone. Until then its owner is not ready,
even if everything still serves: the child may come back as a topology server without records. A child that only waits
for the garbage collector is gone in a moment and is only waited for; any other is a problem, and the message says since
when it terminates and what it waits for.
"""

from msgspec import UNSET

from steward.kube.objects.conditions import READY, TRUE, Conditions, find_condition
from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.api.scalars import Unset
from steward.multigres.deletion.annotations import ORPHAN_FINALIZER, PROTECTION
from steward.multigres.deletion.dependents import DELETION_BLOCKED
from steward.multigres.status.conditions import ComponentStatus, read_conditions

GC_FINALIZERS = frozenset({ORPHAN_FINALIZER, "foregroundDeletion"})
"""Finalizers that the garbage collector removes."""


def terminating_component(
    ref: Ref, meta: ObjectMeta, conditions: api.Conditions | Unset = UNSET
) -> ComponentStatus | None:
    """The component that keeps the owner from being ready; None for a child that is not terminating."""
    if meta.deletion_timestamp is None:
        return None
    name = f"{ref.kind.kind} {ref.key.name}"
    if GC_FINALIZERS.issuperset(meta.finalizers):
        return ComponentStatus(f"{name} to be gone and recreated", 1, 1, is_current=False)
    since = f"it is being deleted since {meta.deletion_timestamp} although it is desired"
    cause = _reported_cause(read_conditions(conditions)) or _finalizer_cause(meta)
    return ComponentStatus(name, 1, 1, False, f"{since}, and is recreated once it is gone; {cause}")


def _reported_cause(conditions: Conditions) -> str:
    blocked, ready = find_condition(conditions, DELETION_BLOCKED), find_condition(conditions, READY)
    if blocked is not None and blocked.status == TRUE:
        return f"{blocked.message}; to delete it all the same, annotate it with {PROTECTION}=disabled"
    return ready.message if ready is not None and ready.reason == reasons.DRAINING else ""


def _finalizer_cause(meta: ObjectMeta) -> str:
    return f"it waits for the controllers of its finalizers {', '.join(meta.finalizers)}"
