"""The graceful end of workloads, one stage after the other, decided from what is seen. Pure.

Grace is not a sleep: a workload whose time has come is scaled to zero and noted as such on itself, so that any later
look, by whichever operator, finds it where the last one left it. It is over when the pods are gone, when all that
remain are known to hold no connection, or when its period is. What is unknown counts as busy.

    stages   [gateways]  |  [orchestrators] [pools]  |  [etcd]
    each     running -> scaled to zero -> over -> deleted

Only when a stage is gone does the next one begin.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import STATEFUL_SET, Kind, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.annotations import Grace, Said, shutdown_period, shutdown_start, started_note
from steward.multigres.objects.deployments import LEAVE_SERVICE_SECONDS
from steward.multigres.objects.metadata import selector
from steward.multigres.views import PodView, StatefulSetView, WorkloadView
from steward.runtime.plan.steps import Delete, Patch, Plan, Requeue

IT_IS_GOING = "its graceful shutdown is over"
LEAST_WAIT = 0.2
COUNT_AGAIN_SECONDS = 2.0
FEW = 5

Workload = WorkloadView | StatefulSetView
Connections = Callable[[PodView], int | None]
"""How many clients a pod serves; None when nobody can tell. It is asked at every look, and answers from memory."""


def unknown_connections(pod: PodView) -> int | None:
    """No component of the data plane tells how many clients it has: each counts as busy until it is gone or its time
    is over. Whoever can count them hands a source of their own to `operator.set_up`."""
    return None


class Going(NamedTuple):
    """A workload that is to end, with the pods that are left of it."""

    kind: Kind
    seen: Workload
    pods: Sequence[PodView]
    services: tuple[Delete, ...] = ()
    """The Services that it leaves before its pods end."""

    @property
    def ref(self) -> Ref:
        return Ref(self.kind, key_of(self.seen))


class Stage(NamedTuple):
    """Workloads that end together, and the time that each is given."""

    workloads: Sequence[Going]
    seconds: float


class Terms(NamedTuple):
    """Under which terms workloads end: the annotations in force, the settings, the time, and who counts clients."""

    annotations: dict[str, str]
    grace: Grace
    now: float
    connections: Connections = unknown_connections
    asked: float = 0.0
    """When the deletion was asked for, where that is known."""


class Draining(NamedTuple):
    """What to do now, and what is still waited for; `waits_for` is empty when every workload is gone."""

    steps: Plan
    waits_for: str = ""
    complaint: str = ""


def drain(stages: Sequence[Stage], terms: Terms) -> Draining:
    """The first stage that still has workloads moves; the others wait."""
    stage = next((stage for stage in stages if stage.workloads), None)
    if stage is None:
        return Draining(())
    period = shutdown_period(terms.annotations, stage.seconds, terms.grace)
    moves = [_move(going, period, terms) for going in stage.workloads]
    steps = tuple(step for move in moves for step in move)
    return Draining(steps, _waits_for(stage.workloads), period.complaint)


def _move(going: Going, period: Said, terms: Terms) -> Plan:
    if going.seen.metadata.deletion_timestamp is not None:
        return ()
    start = shutdown_start(going.seen.metadata.annotations, terms.now, terms.asked)
    if start.at is None:
        return (*going.services, scale_to_zero(going, period.seconds, terms.now))
    left = start.at + period.seconds - terms.now
    if is_over(going, left, terms.connections):
        return (Delete(going.ref, going.seen.metadata.uid, IT_IS_GOING),)
    return (Requeue(max(min(left, _patience(going, terms.connections)), LEAST_WAIT)),)


def _patience(going: Going, connections: Connections) -> float:
    """That the last client left is told by no event: where clients are counted, they are counted again soon."""
    counted = any(connections(pod) is not None for pod in going.pods)
    return COUNT_AGAIN_SECONDS if counted else math.inf


def is_over(going: Going, seconds_left: float, connections: Connections) -> bool:
    if seconds_left <= 0:
        return True
    if going.pods:
        return all(connections(pod) == 0 for pod in going.pods)
    status = going.seen.status
    # Pods that are yet to be made are not gone: the controller behind the workload must have seen the zero.
    return status.replicas == 0 and status.observed_generation >= going.seen.metadata.generation


def scale_to_zero(going: Going, period: float, now: float) -> Patch:
    # The server refuses a grace that is over before preStop is; such a pod has no time for it anyway.
    least = 0 if going.kind == STATEFUL_SET else LEAVE_SERVICE_SECONDS + 1
    spec: Manifest = {
        "replicas": 0,
        "template": {"spec": {"terminationGracePeriodSeconds": max(int(period), least)}},
    }
    if going.kind == STATEFUL_SET:
        # It is removed, not scaled: what becomes of its claims is a matter of whenDeleted alone.
        spec["persistentVolumeClaimRetentionPolicy"] = {"whenScaled": "Retain"}
    # As it was seen: one that the garbage collector has let go meanwhile (--cascade=orphan) is nobody's to drain.
    seen = {"resourceVersion": going.seen.metadata.resource_version, "annotations": started_note(now, period)}
    return Patch(going.ref, MergePatch({"metadata": seen, "spec": spec}))


def _waits_for(workloads: Iterable[Going]) -> str:
    names = sorted(going.seen.metadata.name for going in workloads)
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"{', '.join(names[:FEW])}{more}"


def pods_of(workload: Workload, pods: Iterable[PodView]) -> list[PodView]:
    """Told by the labels that the workload selects by."""
    wanted = selector(workload.metadata.labels).items()
    return [
        pod
        for pod in pods
        if pod.metadata.namespace == workload.metadata.namespace and wanted <= pod.metadata.labels.items()
    ]
