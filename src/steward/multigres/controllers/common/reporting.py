"""Status updates: adds the contributions of other controllers, throttles progress, emits events on transitions."""

from collections.abc import Callable
from typing import Protocol

from steward.kube.clock import Clock
from steward.kube.objects.conditions import READY, TRUE, UNKNOWN
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres.api.scalars import Unset
from steward.multigres.api.status import Conditions
from steward.multigres.api.unset import generation_of_status
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.status.changes import (
    had_problem,
    has_another_cause,
    has_degraded,
    is_urgent,
    names_cause,
    transitions,
    unready_since,
)
from steward.multigres.status.conditions import was_available
from steward.runtime.plan.steps import Emit, EventType, Plan, Requeue, Status
from steward.runtime.plan.write_slots import SATURATED
from steward.runtime.status.throttle import (
    INITIAL_DELAY_SECONDS,
    MAX_INTERVAL_SECONDS,
    StatusThrottle,
    StatusUpdate,
    content_hash,
)

PROGRESS_SECONDS = 5.0
UPDATE_SECONDS = 30.0
"""How often the progress of an object that serves already is reported: a user changed it and watches."""
CHILD_SECONDS = 15.0
"""How long a new child may have no status while it starts as it should: the status of its cluster says that it starts,
and a child that is ready by then has one status instead of two."""
LONGEST_CHILD_SECONDS = 60.0
"""The same on a saturated API server, where everything takes longer: more statuses would make it slower still."""
REPORTED_KINDS = frozenset({CLUSTER, TOPO_SERVER, CELL, TABLE_GROUP, SHARD})
"""Kinds whose status this operator writes."""


class ReportedStatus(Protocol):
    @property
    def conditions(self) -> Conditions | Unset: ...

    @property
    def observed_generation(self) -> int | Unset: ...


class ReportedObject(Protocol):
    """A custom resource with the status that its controller wrote last."""

    @property
    def status(self) -> ReportedStatus: ...


class StatusReporter:
    """`on_ready` drops the caches that are only worth their memory while an object is reconciled again and again,
    `slowdown` is that of the API server's writes."""

    def __init__(
        self,
        clock: Clock,
        contributions: StatusContributions,
        on_ready: Callable[[Ref], None],
        slowdown: Callable[[], float] = lambda: SATURATED,
    ) -> None:
        self._clock = clock
        self._contributions = contributions
        self._on_ready = on_ready
        self._slowdown = slowdown
        self._throttle = StatusThrottle(clock)

    def forget(self, ref: Ref) -> None:
        self._throttle.forget(ref)

    def report(self, ref: Ref, live: ReportedObject, status: Manifest) -> Plan:
        """Writes urgent changes and a ready status at once, progress when it is due. Requeues an unready object,
        but not one of unknown state: what reports the state triggers it."""
        previous = live.status
        status = self._contributions.merge_into(ref, previous, status, to_timestamp(self._clock.now()))
        steps = (Status(ref, status), *_transition_events(ref, previous.conditions, status))
        ready = next(each["status"] for each in status["conditions"] if each["type"] == READY)
        if ready == TRUE:
            self.forget(ref)
            self._on_ready(ref)
            return steps
        update = self._update(ref, previous, status)
        if not _is_urgent(ref, previous, status):
            wait = self._throttle.seconds_to_wait(ref, update)
            if wait:
                return (Requeue(min(wait, PROGRESS_SECONDS)),)
        self._throttle.record(ref, update)
        return steps if ready == UNKNOWN else (*steps, Requeue(PROGRESS_SECONDS))

    def _update(self, ref: Ref, previous: ReportedStatus, status: Manifest) -> StatusUpdate:
        age = max(0.0, self._clock.now() - unready_since(status))
        longest = UPDATE_SECONDS if was_available(previous.conditions) else MAX_INTERVAL_SECONDS
        is_new_child = ref.kind != CLUSTER and not generation_of_status(previous.observed_generation)
        initial = self._child_seconds() if is_new_child else INITIAL_DELAY_SECONDS
        return StatusUpdate(content_hash(status), names_cause(status), age, longest, initial)

    def _child_seconds(self) -> float:
        return min(LONGEST_CHILD_SECONDS, CHILD_SECONDS * max(1.0, self._slowdown() / SATURATED))


def _is_urgent(ref: Ref, previous: ReportedStatus, status: Manifest) -> bool:
    """While a new or edited cluster starts, its own status is enough: the status of its children is delayed until they
    are ready again. Until then their observedGeneration says that it is about an earlier spec."""
    observed = generation_of_status(previous.observed_generation)
    if ref.kind == CLUSTER or observed == status["observedGeneration"]:
        return is_urgent(previous.conditions, observed, status)
    is_stopped = bool(observed) and has_another_cause(previous.conditions, status)
    return is_stopped or has_degraded(previous.conditions, status)


def _transition_events(ref: Ref, previous: Conditions | Unset, status: Manifest) -> Plan:
    """Planned after the status: if the status write fails, the event is not emitted and comes again.

    Only the cluster reports that it became ready; its children emit events about problems and their end.
    """
    return tuple(
        Emit(ref, change.reason, change.message, EventType.WARNING if change.is_problem else EventType.NORMAL)
        for change in transitions(previous, status["conditions"])
        if change.is_problem or ref.kind == CLUSTER or had_problem(previous)
    )
