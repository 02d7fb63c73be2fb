"""A child that is being deleted although it is asked for. Pure.

A deletion cannot be taken back: the child goes, and is made anew once it is gone. Until then nothing calls its owner
ready, however well everything still serves: what comes next may be a topology server without its records. What waits
for the garbage collector alone is gone in a moment and only waited for; anything else is trouble, and the sentence says
since when and what it waits for.
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
from steward.multigres.status.conditions import Piece, read_conditions

COLLECTED = frozenset({ORPHAN_FINALIZER, "foregroundDeletion"})
"""Finalizers to which the garbage collector answers."""


def going_piece(ref: Ref, meta: ObjectMeta, conditions: api.Conditions | Unset = UNSET) -> Piece | None:
    """What keeps its owner from being ready; None for a child that stays."""
    if meta.deletion_timestamp is None:
        return None
    what = f"{ref.kind.kind} {ref.key.name}"
    if COLLECTED.issuperset(meta.finalizers):
        return Piece(f"{what} to be gone and made anew", 1, 1, is_current=False)
    told = f"it is being deleted since {meta.deletion_timestamp} although it is asked for"
    why = _told_by_itself(read_conditions(conditions)) or _held_by(meta)
    return Piece(what, 1, 1, False, f"{told}, and is made anew once it is gone; {why}")


def _told_by_itself(conditions: Conditions) -> str:
    blocked, ready = find_condition(conditions, DELETION_BLOCKED), find_condition(conditions, READY)
    if blocked is not None and blocked.status == TRUE:
        return f"{blocked.message}; to let it go all the same, annotate it with {PROTECTION}=disabled"
    return ready.message if ready is not None and ready.reason == reasons.DRAINING else ""


def _held_by(meta: ObjectMeta) -> str:
    return f"it waits for whoever answers to {', '.join(meta.finalizers)}"
