from typing import Any

import msgspec
import pytest

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.readiness import (
    Failed,
    NotReady,
    Ready,
    is_ready_once_applied,
    readiness,
    readiness_of,
)
from steward.kube.objects.readiness_views import CustomReadinessView, ReadinessView, readiness_view

CUSTOM = Kind("example.com/v1", "Thing")


def condition(type_: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": None}


def judged(kind: Kind, spec: Any = None, status: Any = None, generation: int = 0, **metadata: Any) -> Any:
    obj: dict[str, Any] = {"apiVersion": kind.api_version, "kind": kind.kind}
    obj["metadata"] = {"name": "a", "generation": generation, **metadata}
    if spec is not None:
        obj["spec"] = spec
    if status is not None:
        obj["status"] = status
    return readiness_of(obj)


def deployed(count: int, **status: int) -> dict[str, int]:
    return {"replicas": count, "updatedReplicas": count, "availableReplicas": count, **status}


NO_ADDRESS = "has no load balancer address; set waitForReady: false if its controller reports none"

READY_ONES: list[tuple[Kind, Any, Any]] = [
    (kinds.DEPLOYMENT, {"replicas": 2}, deployed(2)),
    (kinds.DEPLOYMENT, {"replicas": 0}, {}),
    (kinds.DEPLOYMENT, {}, deployed(1)),
    (kinds.REPLICA_SET, {"replicas": 1}, {"availableReplicas": 1}),
    (kinds.STATEFUL_SET, {"replicas": 2}, {"readyReplicas": 2, "updatedReplicas": 2}),
    (kinds.STATEFUL_SET, {"replicas": 0}, {}),
    (kinds.STATEFUL_SET, {"replicas": 2, "updateStrategy": {"type": "OnDelete"}}, {"readyReplicas": 2}),
    (
        kinds.STATEFUL_SET,
        {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}},
        {"readyReplicas": 3, "updatedReplicas": 1},
    ),
    (kinds.DAEMON_SET, {}, {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberReady": 3}),
    (kinds.DAEMON_SET, {}, {"desiredNumberScheduled": 0}),
    (
        kinds.DAEMON_SET,
        {"updateStrategy": {"type": "OnDelete"}},
        {"desiredNumberScheduled": 1, "numberReady": 1},
    ),
    (kinds.JOB, {}, {"conditions": [condition("Complete")]}),
    (kinds.JOB, {}, {"succeeded": 1}),
    (kinds.POD, {}, {"phase": "Running", "conditions": [condition("Ready")]}),
    (kinds.POD, {}, {"phase": "Succeeded", "conditions": [condition("Ready", "False")]}),
    (kinds.PERSISTENT_VOLUME_CLAIM, {}, {"phase": "Bound"}),
    (kinds.NAMESPACE, {}, {"phase": "Active"}),
    (kinds.SERVICE, {"type": "ClusterIP"}, {"loadBalancer": {}}),
    (kinds.SERVICE, {"type": "LoadBalancer"}, {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
    (kinds.INGRESS, {}, {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
    (kinds.INGRESS, {"rules": [{"host": "a"}]}, {"conditions": [condition("Ready")]}),
    (kinds.HORIZONTAL_POD_AUTOSCALER, {}, {"conditions": [condition("AbleToScale")]}),
    (
        kinds.CUSTOM_RESOURCE_DEFINITION,
        {},
        {"conditions": [condition("NamesAccepted"), condition("Established")]},
    ),
    (kinds.CONFIG_MAP, None, None),
    (kinds.SECRET, None, None),
    (kinds.CRON_JOB, {}, {}),
    (kinds.POD_DISRUPTION_BUDGET, {}, {}),
    (CUSTOM, {}, None),
    (CUSTOM, {}, {"conditions": [condition("Ready")]}),
    (CUSTOM, {}, {"conditions": [condition("Other", "False")]}),
    (
        CUSTOM,
        {},
        {
            "conditions": [
                condition("Ready"),
                condition("Stalled", "False"),
                condition("Reconciling", "False"),
            ]
        },
    ),
    (CUSTOM, {}, {"conditions": "strange"}),
    (CUSTOM, {}, {"conditions": ["strange", {"no": "type"}]}),
    (CUSTOM, {}, "strange"),
]

NOT_YET: list[tuple[Kind, Any, Any, str]] = [
    (kinds.DEPLOYMENT, {"replicas": 2}, deployed(2, updatedReplicas=1), "1 of 2 replicas are updated"),
    (kinds.DEPLOYMENT, {"replicas": 2}, deployed(2, replicas=3), "1 old replicas still exist"),
    (kinds.DEPLOYMENT, {"replicas": 2}, deployed(2, availableReplicas=1), "1 of 2 replicas are available"),
    (kinds.DEPLOYMENT, {}, {}, "0 of 1 replicas are updated"),
    (kinds.REPLICA_SET, {"replicas": 1}, {}, "0 of 1 replicas are available"),
    (
        kinds.STATEFUL_SET,
        {"replicas": 2},
        {"readyReplicas": 2, "updatedReplicas": 1},
        "1 of 2 replicas are updated",
    ),
    (
        kinds.STATEFUL_SET,
        {"replicas": 2},
        {"readyReplicas": 1, "updatedReplicas": 2},
        "1 of 2 replicas are ready",
    ),
    (
        kinds.DAEMON_SET,
        {},
        {"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 1},
        "1 of 2 replicas are ready",
    ),
    (kinds.DAEMON_SET, {}, {"desiredNumberScheduled": 2, "numberReady": 2}, "0 of 2 replicas are updated"),
    (kinds.JOB, {}, {}, "is not complete"),
    (kinds.JOB, {"completions": 3}, {"succeeded": 2}, "is not complete"),
    (kinds.JOB, {"suspend": True}, {}, "is suspended"),
    (kinds.POD, {}, {"phase": "Pending"}, "is Pending and not ready"),
    (
        kinds.POD,
        {},
        {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable", "no nodes")]},
        "cannot be scheduled: no nodes",
    ),
    (
        kinds.POD,
        {},
        {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
        "container main waits: ImagePullBackOff",
    ),
    (kinds.PERSISTENT_VOLUME_CLAIM, {}, {"phase": "Pending"}, "is not bound to a volume"),
    (kinds.NAMESPACE, {}, {"phase": "Terminating"}, "is not active"),
    (kinds.SERVICE, {"type": "LoadBalancer"}, {"loadBalancer": {}}, "has no load balancer address"),
    (kinds.INGRESS, {"rules": [{"host": "a"}]}, {"loadBalancer": {}}, NO_ADDRESS),
    (kinds.INGRESS, {}, {"conditions": [condition("Ready", "False")]}, NO_ADDRESS),
    (kinds.HORIZONTAL_POD_AUTOSCALER, {}, {}, "cannot scale its target yet"),
    (
        kinds.HORIZONTAL_POD_AUTOSCALER,
        {},
        {"conditions": [condition("AbleToScale", "False", "FailedGetScale", "no target")]},
        "no target",
    ),
    (kinds.CUSTOM_RESOURCE_DEFINITION, {}, {}, "is not established"),
    (CUSTOM, {}, {"conditions": [condition("Ready", "False", "Broken", "why")]}, "why"),
    (CUSTOM, {}, {"conditions": [condition("Ready", "Unknown", "Broken")]}, "Broken"),
    (
        CUSTOM,
        {},
        {"conditions": [condition("Ready"), condition("Reconciling", message="on its way")]},
        "on its way",
    ),
]

FAILED: list[tuple[Kind, Any, Any, str]] = [
    (
        kinds.DEPLOYMENT,
        {"replicas": 1},
        {"conditions": [condition("Progressing", "False", "ProgressDeadlineExceeded", "timed out")]},
        "timed out",
    ),
    (kinds.JOB, {}, {"succeeded": 1, "conditions": [condition("Failed", message="too many")]}, "too many"),
    (kinds.POD, {}, {"phase": "Failed"}, "the pod failed"),
    (
        kinds.POD,
        {},
        {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
        "container main crashes again and again",
    ),
    (kinds.PERSISTENT_VOLUME_CLAIM, {}, {"phase": "Lost"}, "its volume is lost"),
    (
        kinds.CUSTOM_RESOURCE_DEFINITION,
        {},
        {"conditions": [condition("NamesAccepted", "False", message="taken")]},
        "taken",
    ),
    (
        CUSTOM,
        {},
        {"conditions": [condition("Ready", "False"), condition("Stalled", message="stuck")]},
        "stuck",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "status"), READY_ONES)
def test_what_is_ready(kind: Kind, spec: Any, status: Any) -> None:
    assert judged(kind, spec, status) == Ready()


@pytest.mark.parametrize(("kind", "spec", "status", "why"), NOT_YET)
def test_an_object_that_is_not_ready_has_a_message(kind: Kind, spec: Any, status: Any, why: str) -> None:
    verdict = judged(kind, spec, status)

    assert isinstance(verdict, NotReady)
    assert verdict.message == why


@pytest.mark.parametrize(("kind", "spec", "status", "why"), FAILED)
def test_an_object_that_failed_has_a_message(kind: Kind, spec: Any, status: Any, why: str) -> None:
    verdict = judged(kind, spec, status)

    assert isinstance(verdict, Failed)
    assert verdict.message == why


@pytest.mark.parametrize(
    "kind", [kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.DAEMON_SET, kinds.REPLICA_SET, CUSTOM]
)
def test_a_generation_that_was_not_observed_is_not_ready(kind: Kind) -> None:
    status = {"observedGeneration": 1, **deployed(1, readyReplicas=1), "conditions": [condition("Ready")]}

    assert judged(kind, {}, status, generation=1) == Ready()
    assert isinstance(judged(kind, {}, status, generation=2), NotReady)


@pytest.mark.parametrize("kind", [kinds.CONFIG_MAP, kinds.DEPLOYMENT, CUSTOM])
def test_a_terminating_object_is_not_ready(kind: Kind) -> None:
    assert judged(kind, {"replicas": 0}, {}, deletionTimestamp="2026-01-01T00:00:00Z") == NotReady(
        "is being deleted"
    )


def test_a_cache_has_a_view_for_every_kind() -> None:
    assert readiness_view(kinds.DEPLOYMENT) is ReadinessView
    assert readiness_view(CUSTOM) is CustomReadinessView
    view = msgspec.json.decode(b'{"status":{"phase":"Bound"}}', type=ReadinessView)
    assert readiness(kinds.PERSISTENT_VOLUME_CLAIM, view) == Ready()


def test_kinds_without_a_rule_are_ready_once_applied_and_custom_kinds_are_not() -> None:
    assert is_ready_once_applied(Kind("v1", "ConfigMap"))
    assert not is_ready_once_applied(Kind("apps/v1", "Deployment"))
    assert not is_ready_once_applied(Kind("example.com/v1", "Widget"))
