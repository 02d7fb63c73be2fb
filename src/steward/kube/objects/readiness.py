"""When is an object ready. Pure.

One rule for each built-in kind that we wait for, kstatus for all others: a generation that was not looked at yet is not
ready, Stalled has failed, Reconciling goes on, Ready decides, and an object without conditions is ready by being there.
Nothing that was scaled to zero is waited for.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from steward.kube.objects import kinds
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
)
from steward.kube.objects.kinds import Kind, Manifest
from steward.kube.objects.readiness_views import CustomObserved, CustomStatus, Observed, observed_view


class Ready(Struct, frozen=True):
    pass


class NotYet(Struct, frozen=True):
    why: str


class Failed(Struct, frozen=True):
    why: str


Readiness = Ready | NotYet | Failed

READY_NOW: Final = Ready()


def readiness(kind: Kind, obj: Observed | CustomObserved) -> Readiness:
    if obj.metadata.deletion_timestamp is not None:
        return NotYet("is being deleted")
    if isinstance(obj, Observed):
        return _RULES.get(kind, _always)(obj)
    return _custom(obj)


def readiness_of(manifest: Manifest) -> Readiness:
    """The readiness of an object that was read whole."""
    kind = kinds.kind_of(manifest)
    return readiness(kind, msgspec.convert(manifest, observed_view(kind)))


def _always(obj: Observed) -> Readiness:
    return READY_NOW


def _unseen(obj: Observed) -> bool:
    return obj.status.observed_generation < obj.metadata.generation


def _count(what: str, have: int, want: int) -> NotYet:
    return NotYet(f"{have} of {want} replicas are {what}")


_UNSEEN: Final = NotYet("the latest change has not been looked at yet")


def _deployment(obj: Observed) -> Readiness:
    status, want = obj.status, obj.spec.replicas
    if _unseen(obj):
        return _UNSEEN
    progressing = find_condition(status.conditions, "Progressing")
    if progressing is not None and progressing.reason == "ProgressDeadlineExceeded":
        return Failed(progressing.message or "did not progress before its deadline")
    if status.updated_replicas < want:
        return _count("updated", status.updated_replicas, want)
    if status.replicas > status.updated_replicas:
        return NotYet(f"{status.replicas - status.updated_replicas} old replicas are still there")
    if status.available_replicas < want:
        return _count("available", status.available_replicas, want)
    return READY_NOW


def _stateful_set(obj: Observed) -> Readiness:
    status, want, strategy = obj.status, obj.spec.replicas, obj.spec.update_strategy
    if _unseen(obj):
        return _UNSEEN
    partition = strategy.rolling_update.partition if strategy.rolling_update else 0
    to_update = 0 if strategy.type == "OnDelete" else max(want - partition, 0)
    if status.updated_replicas < to_update:
        return _count("updated", status.updated_replicas, to_update)
    if status.ready_replicas < want:
        return _count("ready", status.ready_replicas, want)
    return READY_NOW


def _daemon_set(obj: Observed) -> Readiness:
    status = obj.status
    if _unseen(obj):
        return _UNSEEN
    want = status.desired_number_scheduled
    if obj.spec.update_strategy.type != "OnDelete" and status.updated_number_scheduled < want:
        return _count("updated", status.updated_number_scheduled, want)
    if status.number_ready < want:
        return _count("ready", status.number_ready, want)
    return READY_NOW


def _replica_set(obj: Observed) -> Readiness:
    if _unseen(obj):
        return _UNSEEN
    if obj.status.available_replicas < obj.spec.replicas:
        return _count("available", obj.status.available_replicas, obj.spec.replicas)
    return READY_NOW


def _job(obj: Observed) -> Readiness:
    conditions = obj.status.conditions
    failed = find_condition(conditions, "Failed")
    if failed is not None and failed.status == TRUE:
        return Failed(failed.message or "the job failed")
    if is_true(conditions, "Complete") or obj.status.succeeded >= max(obj.spec.completions, 1):
        return READY_NOW
    return NotYet("is suspended" if obj.spec.suspend else "is not complete")


def _pod(obj: Observed) -> Readiness:
    status = obj.status
    if status.phase == "Succeeded" or is_true(status.conditions, READY):
        return READY_NOW
    if status.phase == "Failed":
        return Failed("the pod failed")
    for container in status.container_statuses:
        waiting = container.state.waiting
        if waiting is not None and waiting.reason == "CrashLoopBackOff":
            return Failed(f"container {container.name} crashes again and again")
        if waiting is not None and waiting.reason:
            return NotYet(f"container {container.name} waits: {waiting.reason}")
    scheduled = find_condition(status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == FALSE:
        return NotYet(f"cannot be scheduled: {scheduled.message}")
    return NotYet(f"is {status.phase or 'Pending'} and not ready")


def _claim(obj: Observed) -> Readiness:
    if obj.status.phase == "Lost":
        return Failed("its volume is lost")
    return READY_NOW if obj.status.phase == "Bound" else NotYet("is not bound to a volume")


def _namespace(obj: Observed) -> Readiness:
    return READY_NOW if obj.status.phase == "Active" else NotYet("is not active")


def _service(obj: Observed) -> Readiness:
    if obj.spec.type == "LoadBalancer" and not obj.status.load_balancer.ingress:
        return NotYet("has no load balancer address")
    return READY_NOW


def _ingress(obj: Observed) -> Readiness:
    # Many controllers never report an address: rules that were taken in are what can be waited for.
    if obj.status.load_balancer.ingress or obj.spec.rules:
        return READY_NOW
    return NotYet("has no rules and no load balancer address")


def _autoscaler(obj: Observed) -> Readiness:
    able = find_condition(obj.status.conditions, "AbleToScale")
    if able is not None and able.status == TRUE:
        return READY_NOW
    return NotYet(able.message if able is not None and able.message else "cannot scale its target yet")


def _definition(obj: Observed) -> Readiness:
    names = find_condition(obj.status.conditions, "NamesAccepted")
    if names is not None and names.status == FALSE:
        return Failed(names.message or "its names are taken by another definition")
    return READY_NOW if is_true(obj.status.conditions, "Established") else NotYet("is not established")


def _custom(obj: CustomObserved) -> Readiness:
    status = obj.status
    if not isinstance(status, CustomStatus):
        return READY_NOW
    observed = status.observed_generation
    if isinstance(observed, int) and observed < obj.metadata.generation:
        return _UNSEEN
    return _by_kstatus(_read_conditions(status.conditions))


def _by_kstatus(conditions: Conditions) -> Readiness:
    stalled = find_condition(conditions, STALLED)
    if stalled is not None and stalled.status == TRUE:
        return Failed(stalled.message or stalled.reason or "is stalled")
    reconciling = find_condition(conditions, RECONCILING)
    if reconciling is not None and reconciling.status == TRUE:
        return NotYet(reconciling.message or reconciling.reason or "is being reconciled")
    ready = find_condition(conditions, READY)
    if ready is not None and ready.status != TRUE:
        return NotYet(ready.message or ready.reason or "is not ready")
    return READY_NOW


def _read_conditions(found: Any) -> Conditions:
    """Those entries that look like conditions: a stranger's status is no reason to fail."""
    entries = found if isinstance(found, list | tuple) else ()
    return tuple(
        Condition(
            entry["type"],
            str(entry.get("status")),
            str(entry.get("reason") or ""),
            str(entry.get("message") or ""),
        )
        for entry in entries
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str)
    )


_RULES: Final[dict[Kind, Callable[[Observed], Readiness]]] = {
    kinds.CUSTOM_RESOURCE_DEFINITION: _definition,
    kinds.DAEMON_SET: _daemon_set,
    kinds.DEPLOYMENT: _deployment,
    kinds.HORIZONTAL_POD_AUTOSCALER: _autoscaler,
    kinds.INGRESS: _ingress,
    kinds.JOB: _job,
    kinds.NAMESPACE: _namespace,
    kinds.PERSISTENT_VOLUME_CLAIM: _claim,
    kinds.POD: _pod,
    kinds.REPLICA_SET: _replica_set,
    kinds.SERVICE: _service,
    kinds.STATEFUL_SET: _stateful_set,
}
