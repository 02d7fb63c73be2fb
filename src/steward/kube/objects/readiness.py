"""Decides whether an object is ready. Pure.

One rule for each built-in kind that the operators wait for, and kstatus for all others: an object whose generation was
not observed yet is not ready, Stalled means failed, Reconciling means not ready, then Ready decides, and an object
without conditions is ready. Workloads that are scaled to zero are ready.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from steward.kube.objects import kinds
from steward.kube.objects.canonical import is_built_in
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
from steward.kube.objects.meta import HasMetadata
from steward.kube.objects.readiness_views import (
    CustomReadinessView,
    CustomStatus,
    ReadinessView,
    readiness_view,
)


class Ready(Struct, frozen=True):
    pass


class NotReady(Struct, frozen=True):
    message: str


class Failed(Struct, frozen=True):
    message: str


Readiness = Ready | NotReady | Failed

READY_NOW: Final = Ready()


def readiness(kind: Kind, obj: ReadinessView | CustomReadinessView) -> Readiness:
    if obj.metadata.deletion_timestamp is not None:
        return NotReady("is being deleted")
    if isinstance(obj, ReadinessView):
        return _RULES.get(kind, _always)(obj)
    return _custom(obj)


def view_readiness(kind: Kind, live: HasMetadata) -> Readiness:
    """The readiness of an object of which a view without status is ready as long as it exists."""
    if isinstance(live, ReadinessView | CustomReadinessView):
        return readiness(kind, live)
    is_terminating = live.metadata.deletion_timestamp is not None
    return NotReady("is being deleted") if is_terminating else READY_NOW


def readiness_of(manifest: Manifest) -> Readiness:
    """The readiness of a complete object."""
    kind = kinds.kind_of(manifest)
    return readiness(kind, msgspec.convert(manifest, readiness_view(kind)))


def is_ready_once_applied(kind: Kind) -> bool:
    """Whether an object of this kind is ready as long as it exists, such as a ConfigMap."""
    return is_built_in(kind) and kind not in _RULES


def _always(obj: ReadinessView) -> Readiness:
    return READY_NOW


def _is_unobserved(obj: ReadinessView) -> bool:
    return obj.status.observed_generation < obj.metadata.generation


def _too_few(what: str, actual: int, desired: int) -> NotReady:
    return NotReady(f"{actual} of {desired} replicas are {what}")


_UNOBSERVED: Final = NotReady("the latest change has not been observed yet")


def _deployment(obj: ReadinessView) -> Readiness:
    status, desired = obj.status, obj.spec.replicas
    if _is_unobserved(obj):
        return _UNOBSERVED
    progressing = find_condition(status.conditions, "Progressing")
    if progressing is not None and progressing.reason == "ProgressDeadlineExceeded":
        return Failed(progressing.message or "did not progress before its deadline")
    if status.updated_replicas < desired:
        return _too_few("updated", status.updated_replicas, desired)
    if status.replicas > status.updated_replicas:
        return NotReady(f"{status.replicas - status.updated_replicas} old replicas still exist")
    if status.available_replicas < desired:
        return _too_few("available", status.available_replicas, desired)
    return READY_NOW


def _stateful_set(obj: ReadinessView) -> Readiness:
    status, desired, strategy = obj.status, obj.spec.replicas, obj.spec.update_strategy
    if _is_unobserved(obj):
        return _UNOBSERVED
    partition = strategy.rolling_update.partition if strategy.rolling_update else 0
    to_update = 0 if strategy.type == "OnDelete" else max(desired - partition, 0)
    if status.updated_replicas < to_update:
        return _too_few("updated", status.updated_replicas, to_update)
    if status.ready_replicas < desired:
        return _too_few("ready", status.ready_replicas, desired)
    return READY_NOW


def _daemon_set(obj: ReadinessView) -> Readiness:
    status = obj.status
    if _is_unobserved(obj):
        return _UNOBSERVED
    desired = status.desired_number_scheduled
    if obj.spec.update_strategy.type != "OnDelete" and status.updated_number_scheduled < desired:
        return _too_few("updated", status.updated_number_scheduled, desired)
    if status.number_ready < desired:
        return _too_few("ready", status.number_ready, desired)
    return READY_NOW


def _replica_set(obj: ReadinessView) -> Readiness:
    if _is_unobserved(obj):
        return _UNOBSERVED
    if obj.status.available_replicas < obj.spec.replicas:
        return _too_few("available", obj.status.available_replicas, obj.spec.replicas)
    return READY_NOW


def _job(obj: ReadinessView) -> Readiness:
    conditions = obj.status.conditions
    failed = find_condition(conditions, "Failed")
    if failed is not None and failed.status == TRUE:
        return Failed(failed.message or "the job failed")
    if is_true(conditions, "Complete") or obj.status.succeeded >= max(obj.spec.completions, 1):
        return READY_NOW
    return NotReady("is suspended" if obj.spec.suspend else "is not complete")


def _pod(obj: ReadinessView) -> Readiness:
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
            return NotReady(f"container {container.name} waits: {waiting.reason}")
    scheduled = find_condition(status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == FALSE:
        return NotReady(f"cannot be scheduled: {scheduled.message}")
    return NotReady(f"is {status.phase or 'Pending'} and not ready")


def _claim(obj: ReadinessView) -> Readiness:
    if obj.status.phase == "Lost":
        return Failed("its volume is lost")
    return READY_NOW if obj.status.phase == "Bound" else NotReady("is not bound to a volume")


def _namespace(obj: ReadinessView) -> Readiness:
    return READY_NOW if obj.status.phase == "Active" else NotReady("is not active")


def _service(obj: ReadinessView) -> Readiness:
    if obj.spec.type == "LoadBalancer" and not obj.status.load_balancer.ingress:
        return NotReady("has no load balancer address")
    return READY_NOW


def _ingress(obj: ReadinessView) -> Readiness:
    # Rules alone say nothing: an Ingress that no controller serves has them too. Controllers that report no address may
    # set a Ready condition.
    if obj.status.load_balancer.ingress or is_true(obj.status.conditions, READY):
        return READY_NOW
    return NotReady("has no load balancer address; set waitForReady: false if its controller reports none")


def _autoscaler(obj: ReadinessView) -> Readiness:
    able = find_condition(obj.status.conditions, "AbleToScale")
    if able is not None and able.status == TRUE:
        return READY_NOW
    return NotReady(able.message if able is not None and able.message else "cannot scale its target yet")


def _custom_resource_definition(obj: ReadinessView) -> Readiness:
    names = find_condition(obj.status.conditions, "NamesAccepted")
    if names is not None and names.status == FALSE:
        return Failed(names.message or "its names are taken by another definition")
    return READY_NOW if is_true(obj.status.conditions, "Established") else NotReady("is not established")


def _custom(obj: CustomReadinessView) -> Readiness:
    status = obj.status
    if not isinstance(status, CustomStatus):
        return READY_NOW
    observed = status.observed_generation
    if isinstance(observed, int) and observed < obj.metadata.generation:
        return _UNOBSERVED
    return _by_kstatus(_read_conditions(status.conditions))


def _by_kstatus(conditions: Conditions) -> Readiness:
    stalled = find_condition(conditions, STALLED)
    if stalled is not None and stalled.status == TRUE:
        return Failed(stalled.message or stalled.reason or "is stalled")
    reconciling = find_condition(conditions, RECONCILING)
    if reconciling is not None and reconciling.status == TRUE:
        return NotReady(reconciling.message or reconciling.reason or "is being reconciled")
    ready = find_condition(conditions, READY)
    if ready is not None and ready.status != TRUE:
        return NotReady(ready.message or ready.reason or "is not ready")
    return READY_NOW


def _read_conditions(found: Any) -> Conditions:
    """The entries that are conditions; other content of a foreign status is ignored."""
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


_RULES: Final[dict[Kind, Callable[[ReadinessView], Readiness]]] = {
    kinds.CUSTOM_RESOURCE_DEFINITION: _custom_resource_definition,
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
