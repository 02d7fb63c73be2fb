"""Derives conditions, phase and message from component readiness. Pure.

Healthy covers every desired component: a child that is missing, has not observed its latest generation or is not cached
yet is not ready. Ready, Available and Degraded are always present; Reconciling and Stalled only while they are true, as
kstatus expects. The same inputs give the same status, byte for byte, so an unchanged status is never written again.
"""

from collections.abc import Iterable, Sequence
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
    condition_manifests,
    find_condition,
    is_true,
    set_conditions,
)
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.api.scalars import Phase, Unset
from steward.multigres.api.unset import or_default
from steward.multigres.views import StatefulSetView, TopoServerView, WorkloadView
from steward.runtime.status.transitions import has_new_reason

AVAILABLE = "Available"
DEGRADED = "Degraded"
TOPOLOGY_REGISTERED = "TopologyRegistered"
CERTIFICATES_READY = "BackupCertificatesReady"
VOLUMES_READY = "VolumesReady"
ROLLING_UPDATE = "RollingUpdate"
SCALE_DOWN_PENDING = "ScaleDownPending"
PLACEMENTS_SKIPPED = "PlacementsSkipped"
DRAINING = "Draining"
CONNECTION_DRAINING = "ConnectionDraining"
POD_CHANGE_CONDITIONS = (ROLLING_UPDATE, SCALE_DOWN_PENDING)
TRANSIENT_CONDITIONS = frozenset(
    {RECONCILING, STALLED, PLACEMENTS_SKIPPED, SCALE_DOWN_PENDING, DRAINING, CONNECTION_DRAINING}
)
"""Conditions that are present only while they matter: a status does not depend on what was removed long ago."""


class PodProblems(NamedTuple):
    """Messages about pods and volumes: `problem` needs a user, `hint` may pass without one."""

    problem: str = ""
    hint: str = ""


NO_PROBLEMS = PodProblems()


class ComponentStatus(NamedTuple):
    """Readiness of one component: a workload or a child custom resource."""

    name: str
    desired: int
    ready: int
    is_current: bool
    problem: str = ""
    hint: str = ""

    @property
    def is_ready(self) -> bool:
        return self.is_current and self.ready >= self.desired

    @property
    def is_serving(self) -> bool:
        return self.ready > 0 or self.desired == 0


class Stall(NamedTuple):
    """Why reconciling cannot continue until a user changes something."""

    reason: str
    message: str


class ObjectHealth(NamedTuple):
    """The summary of all components."""

    phase: Phase
    reason: str
    message: str
    is_ready: bool
    is_available: bool
    problem: str = ""
    stall: Stall | None = None


def workload_component(
    name: str,
    desired: int,
    live: WorkloadView | StatefulSetView | None,
    problems: PodProblems = NO_PROBLEMS,
) -> ComponentStatus:
    if live is None:
        return ComponentStatus(name, desired, 0, False, *problems)
    is_current = live.status.observed_generation >= live.metadata.generation and live.spec.replicas == desired
    # Surplus pods that are not gone yet count as work in progress.
    is_current = is_current and live.status.replicas <= desired
    return ComponentStatus(name, desired, live.status.ready_replicas, is_current, *problems)


def child_component(
    name: str, meta: ObjectMeta | None, conditions: api.Conditions | Unset, observed: int | Unset
) -> ComponentStatus:
    """A child custom resource: ready if it reports Ready for its current generation and is not terminating."""
    if meta is None:
        return ComponentStatus(name, 1, 0, is_current=False)
    reported = read_conditions(conditions)
    is_current = or_default(observed, 0) >= meta.generation and meta.deletion_timestamp is None
    ready = find_condition(reported, READY)
    degraded = find_condition(reported, DEGRADED)
    problem = degraded.message if degraded is not None and degraded.status == TRUE and is_current else ""
    hint = ready.message if ready is not None and ready.reason == reasons.HELD_UP and is_current else ""
    is_ready = ready is not None and ready.status == TRUE
    return ComponentStatus(name, 1, int(is_ready), is_current, problem, hint)


def certificates_component(conditions: api.Conditions | Unset) -> list[ComponentStatus]:
    """Without certificates new pods cannot start and backups fail; running pods keep serving for a while."""
    certificates = find_condition(read_conditions(conditions), CERTIFICATES_READY)
    if certificates is None or certificates.status != FALSE:
        return []
    return [ComponentStatus("backup certificates", 1, 1, True, certificates.message)]


def assess_health(components: Sequence[ComponentStatus], stall: Stall | None = None) -> ObjectHealth:
    available = bool(components) and all(component.is_serving for component in components)
    failing = next((component for component in components if component.problem), None)
    waiting = [component for component in components if not component.is_ready]
    if stall is not None:
        return ObjectHealth("Degraded", stall.reason, stall.message, False, available, stall.message, stall)
    if failing is not None:
        message = f"{failing.name}: {failing.problem}"
        return ObjectHealth(
            "Degraded", reasons.COMPONENT_IN_TROUBLE, message, not waiting, available, message
        )
    if waiting or not components:
        started = any(component.ready for component in components)
        phase: Phase = "Progressing" if started else "Initializing"
        reason = reasons.HELD_UP if any(component.hint for component in waiting) else reasons.WAITING
        return ObjectHealth(phase, reason, _waiting_message(waiting), False, available)
    return ObjectHealth("Healthy", reasons.HEALTHY, "everything is ready", True, True)


def _waiting_message(waiting: Sequence[ComponentStatus]) -> str:
    if not waiting:
        return "waiting for its parts to appear"
    first = waiting[0]
    count = f": {first.ready} of {first.desired} ready" if first.desired != 1 else ""
    more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    hint = next((f" ({component.hint})" for component in waiting if component.hint), "")
    return f"waiting for {first.name}{count}{more}{hint}"


def topology_waiting_condition(server: str) -> Condition:
    """The TopologyRegistered condition of a cluster whose topology server has no ready member yet."""
    message = f"waiting for a ready member of {server}"
    return Condition(TOPOLOGY_REGISTERED, FALSE, reasons.TOPOLOGY_WAITING, message)


class StatusContext(NamedTuple):
    """What every status is derived from besides its components: the object, its previous conditions and the time."""

    meta: ObjectMeta
    previous: api.Conditions | Unset
    now: str


def common_status(
    context: StatusContext, health: ObjectHealth, others: Iterable[Condition] = ()
) -> dict[str, Any]:
    """The status fields that all kinds share; `others` are the conditions that only this kind has."""
    conditions = _conditions(context, health, others)
    ready = find_condition(conditions, READY)
    since = "" if health.is_ready or ready is None else f" (since {ready.last_transition_time})"
    return {
        "observedGeneration": context.meta.generation,
        "conditions": condition_manifests(conditions),
        "phase": health.phase,
        "message": f"{health.message}{since}",
    }


def _conditions(context: StatusContext, health: ObjectHealth, others: Iterable[Condition]) -> Conditions:
    current = [*_health_conditions(context.meta.generation, health), *others]
    ended = TRANSIENT_CONDITIONS - {condition.type for condition in current}
    conditions = set_conditions(_previous_conditions(context), current, context.now)
    return tuple(condition for condition in conditions if condition.type not in ended)


def _health_conditions(generation: int, health: ObjectHealth) -> list[Condition]:
    def condition(type_: str, is_true: bool, reason: str, message: str) -> Condition:
        return Condition(type_, TRUE if is_true else FALSE, reason, message, generation)

    serving = reasons.AVAILABLE if health.is_available else reasons.UNAVAILABLE
    message = "every component serves" if health.is_available else "a component has no pod that serves"
    conditions = [
        condition(READY, health.is_ready, health.reason, health.message),
        condition(AVAILABLE, health.is_available, serving, message),
        condition(DEGRADED, bool(health.problem), health.reason, health.problem or health.message),
    ]
    if health.stall is not None:
        conditions.append(condition(STALLED, True, health.stall.reason, health.stall.message))
    elif not health.is_ready:
        conditions.append(condition(RECONCILING, True, health.reason, health.message))
    return conditions


def _previous_conditions(context: StatusContext) -> Conditions:
    """An object without conditions counts as neither ready nor available since its creation."""
    previous, created = read_conditions(context.previous), context.meta.creation_timestamp
    if previous or not created:
        return previous
    return tuple(Condition(type_, FALSE, last_transition_time=created) for type_ in (READY, AVAILABLE))


class Transition(NamedTuple):
    """A condition change that a user may want to know of."""

    reason: str
    message: str
    is_problem: bool


def transitions(previous: api.Conditions | Unset, current: Sequence[dict[str, Any]]) -> list[Transition]:
    """The changes to report as events. A problem of another kind, with another reason, is reported again."""
    old = read_conditions(previous)
    new = {
        each["type"]: Condition(each["type"], each["status"], each["reason"], each["message"])
        for each in current
    }
    problems = [
        Transition(new[type_].reason, new[type_].message, is_problem=True)
        for type_ in (STALLED, DEGRADED)
        if type_ in new and new[type_].status == TRUE and has_new_reason(old, new[type_])
    ]
    if problems:
        return problems[:1]
    ready, previous_ready = new[READY], find_condition(old, READY)
    if previous_ready is not None and previous_ready.status != ready.status:
        return [Transition(ready.reason, ready.message, is_problem=False)]
    return []


def had_problem(conditions: api.Conditions | Unset) -> bool:
    previous = read_conditions(conditions)
    return is_true(previous, DEGRADED) or is_true(previous, STALLED)


def was_available(conditions: api.Conditions | Unset) -> bool:
    available = find_condition(read_conditions(conditions), AVAILABLE)
    return available is not None and available.status == TRUE


def is_urgent(previous: api.Conditions | Unset, observed: int | Unset, status: dict[str, Any]) -> bool:
    """Whether a status must be written at once. Progress, and improvements short of Ready, can wait a little: a write
    for every pod that starts would cost more than creating the pods. The reason why pods are not replaced or not
    removed is not progress: a user may have to act."""
    if or_default(observed, 0) != status["observedGeneration"]:
        return True
    old = find_condition(read_conditions(previous), READY)
    new = next(condition["status"] for condition in status["conditions"] if condition["type"] == READY)
    has_turned = old is None or old.status != new
    return has_turned or has_degraded(previous, status) or _has_another_cause(previous, status)


def _has_another_cause(previous: api.Conditions | Unset, status: dict[str, Any]) -> bool:
    """Whether a rollout or a scale-down continues, stops or ends for another reason."""
    old = {condition.type: condition.reason for condition in read_conditions(previous)}
    new = {condition["type"]: condition["reason"] for condition in status["conditions"]}
    return any(old.get(type_) != new.get(type_) for type_ in POD_CHANGE_CONDITIONS)


def has_degraded(previous: api.Conditions | Unset, status: dict[str, Any]) -> bool:
    """Whether Degraded or Stalled changed, or a good condition was lost."""
    old = {condition.type: condition.status for condition in read_conditions(previous)}
    new = {condition["type"]: condition["status"] for condition in status["conditions"]}
    turned = any((new.get(type_) == TRUE) != (old.get(type_) == TRUE) for type_ in (DEGRADED, STALLED))
    lost = any(
        old.get(type_) == TRUE and new.get(type_) != TRUE for type_ in (AVAILABLE, TOPOLOGY_REGISTERED)
    )
    lacks_certificates = old.get(CERTIFICATES_READY) != FALSE and new.get(CERTIFICATES_READY) == FALSE
    return turned or lost or lacks_certificates


def unready_since(status: dict[str, Any]) -> float:
    [ready] = (condition for condition in status["conditions"] if condition["type"] == READY)
    return from_timestamp(ready["lastTransitionTime"])


def names_cause(status: dict[str, Any]) -> bool:
    """Whether a condition names a cause that a user may have to look at."""
    causes = (reasons.HELD_UP, reasons.COMPONENT_IN_TROUBLE)
    return any(condition["reason"] in causes for condition in status["conditions"])


def read_conditions(conditions: api.Conditions | Unset) -> Conditions:
    if conditions is UNSET:
        return ()
    return tuple(
        Condition(
            condition.type,
            condition.status,
            condition.reason,
            condition.message,
            condition.observed_generation,
            condition.last_transition_time,
        )
        for condition in conditions
    )


def topo_server_component(name: str, server: TopoServerView | None) -> ComponentStatus:
    if server is None:
        return child_component(f"topology server {name}", None, [], 0)
    status = server.status
    return child_component(
        f"topology server {name}", server.metadata, status.conditions, status.observed_generation
    )
