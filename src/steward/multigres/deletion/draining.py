"""Plans the graceful shutdown of workloads, one stage after the other. Pure.

A shutdown does not block a worker: the operator annotates a workload with the start time, so that every later
reconcile, of any operator process, continues from there. Pods with clients that can be counted keep their clients, and
gateways are taken out of the Services: the workload is scaled to zero when the last client has left, or when its period
is over. Other workloads are scaled to zero at once. A workload is drained when its pods are gone, or when its period is
over; gateways also when all remaining pods are known to have no connection. A pod whose connections are unknown counts
as busy.

Servers have the whole period for their shutdown again once they are scaled to zero: Postgres must not be killed because
its clients took their time.

    stages         [gateways]  |  [orchestrators] [pools]  |  [etcd]
    each workload  running -> (without new clients ->) scaled to zero -> drained -> deleted

A stage starts when all workloads of the stage before it are gone.

A stage may have pods that no controller manages any more: those of a StatefulSet that was deleted without them. They
are deleted once no workload of their name is left.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import POD, STATEFUL_SET, Kind, Manifest, Ref
from steward.kube.objects.meta import controller_of, key_of
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres.deletion.annotations import (
    GraceSettings,
    ShutdownPeriod,
    shutdown_period,
    shutdown_start,
    started_annotations,
)
from steward.multigres.objects.deployments import ENDPOINT_REMOVAL_SECONDS
from steward.multigres.objects.metadata import ACCEPTS_CLIENTS_LABEL, selector
from steward.multigres.views import PodView, StatefulSetView, WorkloadView
from steward.runtime.plan.steps import Delete, Patch, Plan, Requeue

SHUTDOWN_OVER = "its graceful shutdown is over"
PERIOD_IS_SHORTER = "its shutdown period ends before the grace period of the pod"
TOLERANCE_SECONDS = 5.0
ACCEPTS, REFUSES = "true", "false"
NO_CONTROLLER = "it has no controller any more and is no longer desired"
MIN_WAIT_SECONDS = 0.2
COUNT_AGAIN_SECONDS = 2.0
RECHECK_SECONDS = 1.0
MAX_LISTED = 5

Workload = WorkloadView | StatefulSetView
Connections = Callable[[PodView], int | None]
"""The number of clients that a pod serves; None if unknown. Called in every reconcile: it must answer from memory."""


def unknown_connections(pod: PodView) -> int | None:
    """Each pod counts as busy until it is gone or its period is over."""
    return None


class DrainingWorkload(NamedTuple):
    """A workload to shut down, with its remaining pods."""

    kind: Kind
    live: Workload
    pods: Sequence[PodView]
    services: tuple[Delete, ...] = ()
    """Deletes the Services of the workload before its pods end."""

    @property
    def ref(self) -> Ref:
        return Ref(self.kind, key_of(self.live))


class DrainStage(NamedTuple):
    """Workloads that shut down together, the period of each, and pods without a controller."""

    workloads: Sequence[DrainingWorkload]
    seconds: float
    ownerless_pods: Sequence[PodView] = ()

    def remaining_pods(self, now: float) -> list[PodView]:
        """Pods without a controller that have not ended, or not had their grace period yet: a pod on a lost node must
        not block a deletion for ever. Without pods of a workload that exists and may adopt them."""
        stems = [f"{workload.live.metadata.name}-" for workload in self.workloads]
        return [
            pod
            for pod in self.ownerless_pods
            if not any(pod.metadata.name.startswith(stem) for stem in stems) and is_within_grace(pod, now)
        ]


class DeletionTerms(NamedTuple):
    """What a shutdown depends on: annotations, settings, the time, and the source of connection counts."""

    annotations: dict[str, str]
    grace: GraceSettings
    now: float
    connections: Connections = unknown_connections
    requested_at: float = 0.0
    """The time of the deletion request, if it is known."""


class DrainPlan(NamedTuple):
    """The steps to take now, and the workloads that are still waited for; `waits_for` is empty when all are gone."""

    steps: Plan
    waits_for: str = ""
    problem: str = ""
    connections: int | None = None
    """How many clients are still connected; None if unknown."""


def plan_drain(stages: Sequence[DrainStage], terms: DeletionTerms) -> DrainPlan:
    """Plans the first stage that still has workloads or pods; later stages wait."""
    stage = next((each for each in stages if each.workloads or each.remaining_pods(terms.now)), None)
    if stage is None:
        return DrainPlan(())
    period = shutdown_period(terms.annotations, stage.seconds, terms.grace)
    pods = stage.remaining_pods(terms.now)
    steps = (
        *(step for workload in stage.workloads for step in _workload_steps(workload, period, terms)),
        *(_pod_step(pod, terms.now) for pod in pods),
        *_recheck_steps(stage.workloads),
    )
    waits_for = _names([*(each.live for each in stage.workloads), *pods])
    return DrainPlan(steps, waits_for, period.problem, _count(stage, terms.connections))


def _count(stage: DrainStage, connections: Connections) -> int | None:
    counts = [connections(pod) for workload in stage.workloads for pod in workload.pods]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _recheck_steps(workloads: Sequence[DrainingWorkload]) -> Plan:
    """The end of a workload triggers its controller. A workload without one triggers nothing: it is looked at again."""
    ownerless = any(controller_of(workload.live.metadata) is None for workload in workloads)
    return (Requeue(RECHECK_SECONDS),) if ownerless else ()


def _pod_step(pod: PodView, now: float) -> Delete | Requeue:
    if pod.metadata.deletion_timestamp is None:
        return delete_ownerless_pod(pod)
    return Requeue(max(_seconds_left(pod, now), MIN_WAIT_SECONDS))


def delete_ownerless_pod(pod: PodView) -> Delete:
    """Only in the version that was read: a controller may have adopted the pod since."""
    meta = pod.metadata
    return Delete(Ref(POD, key_of(pod)), meta.uid, NO_CONTROLLER, resource_version=meta.resource_version)


def is_within_grace(pod: PodView, now: float) -> bool:
    """Whether a pod runs or may still run: the end of one on a lost node is never observed."""
    return _seconds_left(pod, now) > 0


def _seconds_left(pod: PodView, now: float) -> float:
    """Until the grace period of a terminating pod ends, which is the time in its deletion timestamp."""
    ends_at = pod.metadata.deletion_timestamp
    return math.inf if ends_at is None else from_timestamp(ends_at) - now


def _workload_steps(workload: DrainingWorkload, period: ShutdownPeriod, terms: DeletionTerms) -> Plan:
    meta = workload.live.metadata
    if meta.deletion_timestamp is not None:
        return ()
    start = shutdown_start(meta.annotations, terms.now, terms.requested_at)
    if start.at is None:
        if _open_connections(workload, terms.connections):
            return (
                *workload.services,
                *_refuse_clients(workload),
                _mark_started(workload, period, terms.now),
            )
        return (*workload.services, scale_to_zero(workload, period.seconds, terms.now))
    left = start.at + period.seconds - terms.now
    if _keeps_clients(workload):
        if left > 0 and not _has_no_connections(workload, terms.connections):
            return (Requeue(max(min(left, COUNT_AGAIN_SECONDS), MIN_WAIT_SECONDS)),)
        begin = terms.now if workload.kind == STATEFUL_SET else start.at
        return (scale_to_zero(workload, period.seconds, begin),)
    return (*_shorten_steps(workload, terms.now + left, terms.now), *_end_steps(workload, left, terms))


def _end_steps(workload: DrainingWorkload, left: float, terms: DeletionTerms) -> Plan:
    meta = workload.live.metadata
    if is_drained(workload, left, terms.connections):
        return (Delete(workload.ref, meta.uid, SHUTDOWN_OVER),)
    return (Requeue(max(min(left, _recheck_seconds(workload, terms.connections)), MIN_WAIT_SECONDS)),)


def _open_connections(workload: DrainingWorkload, connections: Connections) -> int:
    """How many clients all pods serve together; 0 if one of the numbers is unknown."""
    counts = [connections(pod) for pod in workload.pods]
    return 0 if None in counts else sum(count for count in counts if count is not None)


def _has_no_connections(workload: DrainingWorkload, connections: Connections) -> bool:
    return all(connections(pod) == 0 for pod in workload.pods)


def _keeps_clients(workload: DrainingWorkload) -> bool:
    """Whether its shutdown has started and it was not scaled to zero yet."""
    if workload.kind == STATEFUL_SET:
        return workload.live.spec.replicas > 0
    refuses = any(pod.metadata.labels.get(ACCEPTS_CLIENTS_LABEL) == REFUSES for pod in workload.pods)
    return refuses and workload.live.spec.replicas > 0


def _refuse_clients(workload: DrainingWorkload) -> Plan:
    """Takes gateways out of their Services. Clients find servers through gateways, not through a Service."""
    if workload.kind == STATEFUL_SET:
        return ()
    return tuple(_label_step(pod, REFUSES) for pod in workload.pods)


def accept_steps(pods: Iterable[PodView]) -> Plan:
    """Gives clients back to pods that have drained and are desired again."""
    return tuple(
        _label_step(pod, ACCEPTS)
        for pod in pods
        if pod.metadata.labels.get(ACCEPTS_CLIENTS_LABEL) == REFUSES
        and pod.metadata.deletion_timestamp is None
    )


def _label_step(pod: PodView, value: str) -> Patch:
    change = {"metadata": {"uid": pod.metadata.uid, "labels": {ACCEPTS_CLIENTS_LABEL: value}}}
    return Patch(Ref(POD, key_of(pod)), MergePatch(change))


def _mark_started(workload: DrainingWorkload, period: ShutdownPeriod, now: float) -> Patch:
    annotations = started_annotations(now, period.seconds)
    version = workload.live.metadata.resource_version
    return Patch(
        workload.ref, MergePatch({"metadata": {"resourceVersion": version, "annotations": annotations}})
    )


def _shorten_steps(workload: DrainingWorkload, ends_at: float, now: float) -> Plan:
    """A pod ends by the grace period that it was created with. A shorter one reaches it with a second delete."""
    return tuple(
        Delete(
            Ref(POD, key_of(pod)),
            pod.metadata.uid,
            PERIOD_IS_SHORTER,
            grace_seconds=max(1, int(ends_at - now)),
        )
        for pod in workload.pods
        if pod.metadata.deletion_timestamp is not None
        and from_timestamp(pod.metadata.deletion_timestamp) > max(ends_at, now) + TOLERANCE_SECONDS
    )


def _recheck_seconds(workload: DrainingWorkload, connections: Connections) -> float:
    """No event announces that the last client has left: where clients are counted, they are counted again soon."""
    counted = any(connections(pod) is not None for pod in workload.pods)
    return COUNT_AGAIN_SECONDS if counted else math.inf


def is_drained(workload: DrainingWorkload, seconds_left: float, connections: Connections) -> bool:
    if seconds_left <= 0:
        return True
    if workload.pods:
        return workload.kind != STATEFUL_SET and all(connections(pod) == 0 for pod in workload.pods)
    status = workload.live.status
    # Pods that the workload's controller may still create are not gone: it must have observed the zero replicas.
    return status.replicas == 0 and status.observed_generation >= workload.live.metadata.generation


def scale_to_zero(workload: DrainingWorkload, period: float, now: float) -> Patch:
    # The API server rejects a termination grace period shorter than preStop; such a pod has no time for it anyway.
    least = 0 if workload.kind == STATEFUL_SET else ENDPOINT_REMOVAL_SECONDS + 1
    spec: Manifest = {
        "replicas": 0,
        "template": {"spec": {"terminationGracePeriodSeconds": max(int(period), least)}},
    }
    if workload.kind == STATEFUL_SET:
        # The set is removed, not scaled: only whenDeleted decides about its claims.
        spec["persistentVolumeClaimRetentionPolicy"] = {"whenScaled": "Retain"}
    # With the version that was read: a workload that the garbage collector has orphaned meanwhile must not be drained.
    version, annotations = workload.live.metadata.resource_version, started_annotations(now, period)
    metadata = {"resourceVersion": version, "annotations": annotations}
    return Patch(workload.ref, MergePatch({"metadata": metadata, "spec": spec}))


def _names(objects: Iterable[Workload | PodView]) -> str:
    names = sorted(live.metadata.name for live in objects)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{', '.join(names[:MAX_LISTED])}{more}"


def pods_of_workload(workload: Workload, pods: Iterable[PodView]) -> list[PodView]:
    """The pods that the workload's selector matches."""
    selected = selector(workload.metadata.labels).items()
    return [
        pod
        for pod in pods
        if pod.metadata.namespace == workload.metadata.namespace and selected <= pod.metadata.labels.items()
    ]
