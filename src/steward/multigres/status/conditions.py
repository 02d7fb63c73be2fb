"""Derives conditions, phase and message from component readiness. Pure.

Healthy covers every desired component: a child that is missing, has not observed its latest generation or is not cached
yet is not ready. Ready is Unknown if the state of a component is unknown and no other component is unready. An object
whose servers are stopped is Ready, because it is as the spec asks for, and not Available. Ready, Available and Degraded
are always present; Reconciling and Stalled only while they are true, as kstatus expects. The same inputs give the same
status, byte for byte, so an unchanged status is never written again.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from msgspec import UNSET

from steward.kube.objects.conditions import (
    FALSE,
    READY,
    RECONCILING,
    STALLED,
    TRUE,
    UNKNOWN,
    Condition,
    Conditions,
    condition_manifests,
    find_condition,
    set_conditions,
)
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.api.scalars import Phase, Unset
from steward.multigres.api.unset import or_default
from steward.multigres.status.external_gateway import GATEWAY_EXTERNAL_READY
from steward.multigres.views import StatefulSetView, TopoServerView, WorkloadView

AVAILABLE = "Available"
DEGRADED = "Degraded"
TOPOLOGY_REGISTERED = "TopologyRegistered"
CERTIFICATES_READY = "BackupCertificatesReady"
GATEWAY_CERTIFICATE_READY = "GatewayCertificateReady"
BACKUP_HEALTHY = "BackupHealthy"
RESTORED = "Restored"
VOLUMES_READY = "VolumesReady"
VOLUMES_FILLING = "VolumesFilling"
SERVERS_READY = "ServersReady"
ROLLING_UPDATE = "RollingUpdate"
SCALE_DOWN_PENDING = "ScaleDownPending"
POSTGRES_CONFIG_REFUSED = "PostgresConfigRefused"
SETTINGS_LOADED = "SettingsLoaded"
PLACEMENTS_SKIPPED = "PlacementsSkipped"
DRAINING = "Draining"
CONNECTION_DRAINING = "ConnectionDraining"
PAUSED = "Paused"
PASSWORD_PENDING = "PasswordChangePending"
ROLES_READY = "RolesReady"
POD_CHANGE_CONDITIONS = (ROLLING_UPDATE, SCALE_DOWN_PENDING)
TRANSIENT_CONDITIONS = frozenset(
    {
        RECONCILING,
        STALLED,
        PLACEMENTS_SKIPPED,
        GATEWAY_EXTERNAL_READY,
        SCALE_DOWN_PENDING,
        POSTGRES_CONFIG_REFUSED,
        DRAINING,
        CONNECTION_DRAINING,
        PAUSED,
        PASSWORD_PENDING,
        ROLES_READY,
        VOLUMES_FILLING,
    }
)
"""Conditions that are present only while they matter: a status does not depend on what was removed long ago."""


class PodProblems(NamedTuple):
    """Messages about pods and volumes: `problem` needs a user, `hint` may pass without one."""

    problem: str = ""
    hint: str = ""


NO_PROBLEMS = PodProblems()


class Serving(Enum):
    """Whether a component serves; `IF_READY`: if one of its pods is ready, or if it should have none."""

    IF_READY = "if ready"
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class ComponentStatus(NamedTuple):
    """Readiness of one component: a workload or a child custom resource."""

    name: str
    desired: int
    ready: int
    is_current: bool
    problem: str = ""
    hint: str = ""
    serving: Serving = Serving.IF_READY
    unknown: str = ""
    """Why its readiness is unknown, "" if it is known."""
    is_stopped: bool = False
    """Whether it has no server, as the spec asks for."""

    @property
    def is_ready(self) -> bool:
        return self.is_current and self.ready >= self.desired and not self.unknown

    @property
    def is_serving(self) -> bool | None:
        """None if unknown."""
        if self.serving is Serving.IF_READY:
            return self.ready > 0 or self.desired == 0
        return None if self.serving is Serving.UNKNOWN else self.serving is Serving.YES


class Stall(NamedTuple):
    """Why reconciling cannot continue until a user changes something."""

    reason: str
    message: str


class Availability(NamedTuple):
    """Reason and message of the condition Available."""

    reason: str
    message: str


class ObjectHealth(NamedTuple):
    """The summary of all components. `is_ready` and `is_available` are None if they are unknown."""

    phase: Phase
    reason: str
    message: str
    is_ready: bool | None
    is_available: bool | None
    problem: str = ""
    stall: Stall | None = None
    availability: Availability | None = None
    """Why it is available or not; None: words that fit every kind."""


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
    ready = find_condition(reported, READY) or Condition(READY, FALSE)
    degraded = find_condition(reported, DEGRADED)
    return ComponentStatus(
        name,
        1,
        int(ready.status == TRUE),
        is_current,
        degraded.message if degraded is not None and degraded.status == TRUE and is_current else "",
        ready.message if ready.reason == reasons.HELD_UP and is_current else "",
        _child_serving(find_condition(reported, AVAILABLE)),
        ready.message if ready.status == UNKNOWN and is_current else "",
        ready.reason == reasons.STOPPED and is_current,
    )


def _child_serving(available: Condition | None) -> Serving:
    status = FALSE if available is None else available.status
    return {TRUE: Serving.YES, FALSE: Serving.NO}.get(status, Serving.UNKNOWN)


def certificates_component(conditions: api.Conditions | Unset) -> list[ComponentStatus]:
    """Without certificates new pods cannot start and backups fail; running pods keep serving for a while."""
    certificates = find_condition(read_conditions(conditions), CERTIFICATES_READY)
    if certificates is None or certificates.status != FALSE:
        return []
    return [ComponentStatus("backup certificates", 1, 1, True, certificates.message)]


def settings_component(conditions: api.Conditions | Unset) -> list[ComponentStatus]:
    """Postgres goes on with the settings that it has."""
    loaded = find_condition(read_conditions(conditions), SETTINGS_LOADED)
    if loaded is None or loaded.reason != reasons.SETTINGS_INVALID:
        return []
    return [ComponentStatus("Postgres settings", 1, 1, True, loaded.message)]


def assess_health(components: Sequence[ComponentStatus], stall: Stall | None = None) -> ObjectHealth:
    available = bool(components) and _all_serving(components)
    failing = next((component for component in components if component.problem), None)
    waiting = [component for component in components if not component.is_ready and not component.unknown]
    unknown = next((component for component in components if component.unknown), None)
    if stall is not None:
        return ObjectHealth("Degraded", stall.reason, stall.message, False, available, stall.message, stall)
    if failing is not None:
        message = f"{failing.name}: {failing.problem}"
        is_ready = False if waiting else None if unknown else True
        return ObjectHealth("Degraded", reasons.COMPONENT_IN_TROUBLE, message, is_ready, available, message)
    if waiting or not components:
        return _progress(components, waiting, available)
    if unknown is not None:
        message = f"{unknown.name}: {unknown.unknown}"
        return ObjectHealth("Unknown", reasons.STATE_UNKNOWN, message, None, available)
    stopped = next((component.name for component in components if component.is_stopped), "")
    if stopped:
        return ObjectHealth("Stopped", reasons.STOPPED, f"{stopped}: every pool has 0 replicas", True, False)
    return ObjectHealth("Healthy", reasons.HEALTHY, "everything is ready", True, available)


def _all_serving(components: Iterable[ComponentStatus]) -> bool | None:
    """None if it is unknown whether one of them serves, and all others do."""
    serving = {component.is_serving for component in components}
    return False if False in serving else None if None in serving else True


def _progress(
    components: Sequence[ComponentStatus], waiting: Sequence[ComponentStatus], available: bool | None
) -> ObjectHealth:
    started = any(component.ready for component in components)
    phase: Phase = "Progressing" if started else "Initializing"
    reason = reasons.HELD_UP if any(component.hint for component in waiting) else reasons.WAITING
    return ObjectHealth(phase, reason, _waiting_message(waiting), False, available)


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


AVAILABILITY = {
    True: Availability(reasons.AVAILABLE, "every component serves"),
    False: Availability(reasons.UNAVAILABLE, "a component has no pod that serves"),
    None: Availability(reasons.STATE_UNKNOWN, "it is unknown whether every component serves"),
}


def _health_conditions(generation: int, health: ObjectHealth) -> list[Condition]:
    def condition(type_: str, status: bool | None, reason: str, message: str) -> Condition:
        return Condition(type_, _condition_status(status), reason, message, generation)

    available = health.availability or AVAILABILITY[health.is_available]
    is_degraded = True if health.problem else None if health.is_ready is None else False
    conditions = [
        condition(READY, health.is_ready, health.reason, health.message),
        condition(AVAILABLE, health.is_available, available.reason, available.message),
        condition(DEGRADED, is_degraded, health.reason, health.problem or health.message),
    ]
    if health.stall is not None:
        conditions.append(condition(STALLED, True, health.stall.reason, health.stall.message))
    elif health.is_ready is False:
        conditions.append(condition(RECONCILING, True, health.reason, health.message))
    return conditions


def _condition_status(is_true: bool | None) -> str:
    return UNKNOWN if is_true is None else TRUE if is_true else FALSE


def _previous_conditions(context: StatusContext) -> Conditions:
    """An object without conditions counts as neither ready nor available since its creation."""
    previous, created = read_conditions(context.previous), context.meta.creation_timestamp
    if previous or not created:
        return previous
    return tuple(Condition(type_, FALSE, last_transition_time=created) for type_ in (READY, AVAILABLE))


def was_available(conditions: api.Conditions | Unset) -> bool:
    available = find_condition(read_conditions(conditions), AVAILABLE)
    return available is not None and available.status == TRUE


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
