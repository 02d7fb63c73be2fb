"""What is, in conditions, a phase and one sentence. Pure.

Healthy is a claim about everything that was asked for: a child that is missing, has not seen the last change, or is not
listed yet, is not ready. Ready, Available and Degraded are always there; Reconciling and Stalled only while they hold,
as kstatus reads them. Nothing here changes unless the world does: the same world gives the same status, to the byte.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from steward.kube.objects.conditions import (
    FALSE,
    READY,
    RECONCILING,
    STALLED,
    TRUE,
    Condition,
    Conditions,
    find_condition,
    is_true,
    set_conditions,
    write_conditions,
)
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.api.scalars import Phase, Unset
from steward.multigres.resolution.layers import given
from steward.multigres.views import StatefulSetView, WorkloadView

AVAILABLE = "Available"
DEGRADED = "Degraded"
TOPOLOGY_REGISTERED = "TopologyRegistered"
CERTIFICATES_READY = "BackupCertificatesReady"
VOLUMES_READY = "VolumesReady"
ROLLING_UPDATE = "RollingUpdate"
SCALE_DOWN_PENDING = "ScaleDownPending"
PLACEMENTS_SKIPPED = "PlacementsSkipped"
COURSES = (ROLLING_UPDATE, SCALE_DOWN_PENDING)
PASSING = frozenset({RECONCILING, STALLED, PLACEMENTS_SKIPPED, SCALE_DOWN_PENDING})
"""Conditions that are there only while they hold."""


class Look(NamedTuple):
    """What a closer look at pods and volumes tells: trouble that will not pass by itself, or just a hint."""

    trouble: str = ""
    hint: str = ""


NOTHING_TO_SEE = Look()


class Piece(NamedTuple):
    """One thing that must be ready: a workload, or a child."""

    what: str
    desired: int
    ready: int
    is_current: bool
    trouble: str = ""
    hint: str = ""

    @property
    def is_ready(self) -> bool:
        return self.is_current and self.ready >= self.desired

    @property
    def serves(self) -> bool:
        return self.ready > 0 or self.desired == 0


class Stall(NamedTuple):
    """Why nothing more can be done until somebody changes something."""

    reason: str
    message: str


class Health(NamedTuple):
    """The verdict over all pieces."""

    phase: Phase
    reason: str
    message: str
    is_ready: bool
    is_available: bool
    trouble: str = ""
    stall: Stall | None = None


def workload_piece(
    what: str, desired: int, seen: WorkloadView | StatefulSetView | None, look: Look = NOTHING_TO_SEE
) -> Piece:
    if seen is None:
        return Piece(what, desired, 0, False, *look)
    is_current = seen.status.observed_generation >= seen.metadata.generation and seen.spec.replicas == desired
    # Pods that nobody asks for any more still count as work in progress.
    return Piece(
        what, desired, seen.status.ready_replicas, is_current and seen.status.replicas <= desired, *look
    )


def child_piece(
    what: str, meta: ObjectMeta | None, conditions: api.Conditions | Unset, observed: int | Unset
) -> Piece:
    """A child custom resource: ready when it says so of its present generation, and stays."""
    if meta is None:
        return Piece(what, 1, 0, is_current=False)
    known = read_conditions(conditions)
    is_current = given(observed, 0) >= meta.generation and meta.deletion_timestamp is None
    ready = find_condition(known, READY)
    degraded = find_condition(known, DEGRADED)
    trouble = degraded.message if degraded is not None and degraded.status == TRUE and is_current else ""
    hint = ready.message if ready is not None and ready.reason == reasons.HELD_UP and is_current else ""
    return Piece(what, 1, int(ready is not None and ready.status == TRUE), is_current, trouble, hint)


def certificates_piece(conditions: api.Conditions | Unset) -> list[Piece]:
    """Without certificates pods cannot start and backups fail; what already runs does so for a while yet."""
    known = find_condition(read_conditions(conditions), CERTIFICATES_READY)
    if known is None or known.status != FALSE:
        return []
    return [Piece("backup certificates", 1, 1, True, known.message)]


def assess(pieces: Sequence[Piece], stall: Stall | None = None) -> Health:
    available = bool(pieces) and all(piece.serves for piece in pieces)
    troubled = next((piece for piece in pieces if piece.trouble), None)
    waiting = [piece for piece in pieces if not piece.is_ready]
    if stall is not None:
        return Health("Degraded", stall.reason, stall.message, False, available, stall.message, stall)
    if troubled is not None:
        message = f"{troubled.what}: {troubled.trouble}"
        return Health("Degraded", reasons.TROUBLE, message, not waiting, available, message)
    if waiting or not pieces:
        started = any(piece.ready for piece in pieces)
        phase: Phase = "Progressing" if started else "Initializing"
        reason = reasons.HELD_UP if any(piece.hint for piece in waiting) else reasons.WAITING
        return Health(phase, reason, _waiting_message(waiting), False, available)
    return Health("Healthy", reasons.HEALTHY, "everything is ready", True, True)


def _waiting_message(waiting: Sequence[Piece]) -> str:
    if not waiting:
        return "waiting for its parts to appear"
    first = waiting[0]
    count = f": {first.ready} of {first.desired} ready" if first.desired != 1 else ""
    more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    hint = next((f" ({piece.hint})" for piece in waiting if piece.hint), "")
    return f"waiting for {first.what}{count}{more}{hint}"


def unregistered(server: str) -> Condition:
    """What a cluster says of its records until somebody has looked: it comes up together with its server."""
    told = f"waiting for a ready member of {server}"
    return Condition(TOPOLOGY_REGISTERED, FALSE, reasons.TOPOLOGY_WAITING, told)


class Report(NamedTuple):
    """A status in the making: whose it is, what it said before, and the time."""

    meta: ObjectMeta
    before: api.Conditions | Unset
    now: str


def common_status(report: Report, health: Health, more: Iterable[Condition] = ()) -> dict[str, Any]:
    """What the statuses of all kinds share."""
    conditions = _conditions(report, health, more)
    ready = find_condition(conditions, READY)
    since = "" if health.is_ready or ready is None else f" (since {ready.last_transition_time})"
    return {
        "observedGeneration": report.meta.generation,
        "conditions": write_conditions(conditions),
        "phase": health.phase,
        "message": f"{health.message}{since}",
    }


def _conditions(report: Report, health: Health, more: Iterable[Condition]) -> Conditions:
    generation = report.meta.generation

    def condition(type_: str, holds: bool, reason: str, message: str) -> Condition:
        return Condition(type_, TRUE if holds else FALSE, reason, message, generation)

    serving = reasons.AVAILABLE if health.is_available else reasons.UNAVAILABLE
    told = "every component serves" if health.is_available else "a component has no pod that serves"
    wanted = [
        condition(READY, health.is_ready, health.reason, health.message),
        condition(AVAILABLE, health.is_available, serving, told),
        condition(DEGRADED, bool(health.trouble), health.reason, health.trouble or health.message),
    ]
    if health.stall is not None:
        wanted.append(condition(STALLED, True, health.stall.reason, health.stall.message))
    elif not health.is_ready:
        wanted.append(condition(RECONCILING, True, health.reason, health.message))
    wanted += more
    over = PASSING - {each.type for each in wanted}
    conditions = set_conditions(_known(report), wanted, report.now)
    return tuple(each for each in conditions if each.type not in over)


def _known(report: Report) -> Conditions:
    """An object of which nothing was said yet has been neither ready nor available since it was made."""
    known, made = read_conditions(report.before), report.meta.creation_timestamp
    if known or not made:
        return known
    return tuple(Condition(never, FALSE, last_transition_time=made) for never in (READY, AVAILABLE))


class Transition(NamedTuple):
    """Something that was not so before and that a user may want to know of."""

    reason: str
    message: str
    is_bad: bool


def transitions(before: api.Conditions | Unset, after: Sequence[dict[str, Any]]) -> list[Transition]:
    """What to tell as events: the moment of a change, never the state."""
    old = {known.type: known for known in read_conditions(before)}
    new = {known["type"]: known for known in after}
    told = [
        Transition(new[bad]["reason"], new[bad]["message"], is_bad=True)
        for bad in (STALLED, DEGRADED)
        if bad in new and new[bad]["status"] == TRUE and not _was(old, bad, new[bad]["reason"])
    ]
    if told:
        return told[:1]
    ready = new[READY]
    if READY in old and old[READY].status != ready["status"]:
        return [Transition(ready["reason"], ready["message"], is_bad=False)]
    return []


def _was(old: Mapping[str, Condition], bad: str, reason: str) -> bool:
    """Whether the same was so before; trouble that changes its kind is news again."""
    return bad in old and old[bad].status == TRUE and old[bad].reason == reason


def was_in_trouble(conditions: api.Conditions | Unset) -> bool:
    known = read_conditions(conditions)
    return is_true(known, DEGRADED) or is_true(known, STALLED)


def serves(conditions: api.Conditions | Unset) -> bool:
    """Whether it served when it was last looked at."""
    available = find_condition(read_conditions(conditions), AVAILABLE)
    return available is not None and available.status == TRUE


def is_urgent(before: api.Conditions | Unset, observed: int | Unset, after: dict[str, Any]) -> bool:
    """Whether a status must go out at once. News of progress, and good news short of Ready, can wait a little: a
    status for every pod that comes up would be more writing than making the pods. Why pods are not replaced, or not
    taken away, is no progress: somebody may have to act."""
    if given(observed, 0) != after["observedGeneration"]:
        return True
    old = find_condition(read_conditions(before), READY)
    new = next(known["status"] for known in after["conditions"] if known["type"] == READY)
    return (old is None or old.status != new) or is_bad_news(before, after) or _has_turned(before, after)


def _has_turned(before: api.Conditions | Unset, after: dict[str, Any]) -> bool:
    """Whether a change of pods goes on, stops or ends for another reason."""
    old = {known.type: known.reason for known in read_conditions(before)}
    new = {known["type"]: known["reason"] for known in after["conditions"]}
    return any(old.get(course) != new.get(course) for course in COURSES)


def is_bad_news(before: api.Conditions | Unset, after: dict[str, Any]) -> bool:
    """Whether trouble came, or turned, or something was lost."""
    old = {known.type: known.status for known in read_conditions(before)}
    new = {known["type"]: known["status"] for known in after["conditions"]}
    turned = any((new.get(bad) == TRUE) != (old.get(bad) == TRUE) for bad in (DEGRADED, STALLED))
    lost = any(old.get(good) == TRUE and new.get(good) != TRUE for good in (AVAILABLE, TOPOLOGY_REGISTERED))
    lacking = old.get(CERTIFICATES_READY) != FALSE and new.get(CERTIFICATES_READY) == FALSE
    return turned or lost or lacking


def unready_since(status: dict[str, Any]) -> float:
    [since] = (known["lastTransitionTime"] for known in status["conditions"] if known["type"] == READY)
    return from_timestamp(since)


def is_held_up(status: dict[str, Any]) -> bool:
    """Whether it names a cause that somebody may have to look at."""
    causes = (reasons.HELD_UP, reasons.TROUBLE)
    return any(known["reason"] in causes for known in status["conditions"])


def read_conditions(conditions: api.Conditions | Unset) -> Conditions:
    if conditions is UNSET:
        return ()
    return tuple(
        Condition(
            known.type,
            known.status,
            known.reason,
            known.message,
            known.observed_generation,
            known.last_transition_time,
        )
        for known in conditions
    )
