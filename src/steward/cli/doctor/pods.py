"""Checks of `steward doctor` on the operators' pods: objects in, results with cures out. Pure.

Without these, an image that no node can pull looks like an operator without a leader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from steward.cli.doctor.checks import CheckResult, OperatorLocation, broken, fine, install_command
from steward.kube.objects.kinds import Manifest

SUBJECT: Final = "Steward"
_IMAGE_REASONS: Final = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")
_IMAGE_CURE: Final = (
    "name an image that nodes can pull: image.repository, image.tag, imagePullSecrets of the values"
)


def not_installed(operators: Iterable[str], namespace: str) -> CheckResult:
    """The only result for a cluster without definitions and without Deployments."""
    message = (
        f"is not installed in this cluster: no definitions, and no {' or '.join(operators)} in {namespace}"
    )
    cure = f"{install_command()}; or name another namespace with --system-namespace"
    return broken(SUBJECT, message, cure)


def lease_names(operator: str, deployment: Manifest | None) -> list[str]:
    """One for each partition, as the first argument of the main Deployment says how many there are."""
    containers = [] if deployment is None else deployment["spec"]["template"]["spec"]["containers"]
    arguments = [str(each) for container in containers for each in container.get("args") or ()]
    total = next((each.rpartition("/")[2] for each in arguments if each.startswith("--shard=")), "1")
    if not total.isdecimal() or int(total) <= 1:
        return [operator]
    return [f"{operator}-{number}-of-{total}" for number in range(int(total))]


def check_pods(operator: OperatorLocation, deployments: list[Manifest], pods: list[Manifest]) -> CheckResult:
    """Reports the first problem that explains why pods are not ready."""
    subject = f"{operator.name} pods"
    desired = sum(int(each["spec"].get("replicas", 1)) for each in deployments)
    ready = sum(map(_is_ready, pods))
    state = f"{ready} of {desired} ready"
    if desired == 0:
        return broken(
            subject,
            "it has no replicas",
            f"kubectl scale -n {operator.namespace} deployment/{operator.name} --replicas=2",
        )
    if ready >= desired:
        return fine(subject, state)
    problem, cure = next(_problems(operator, pods), ("", f"kubectl describe pods {operator.pod_selector}"))
    return broken(subject, f"{state}: {problem}" if problem else state, cure)


def _is_ready(pod: Manifest) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in _conditions(pod)
    )


def _conditions(pod: Manifest) -> list[dict[str, Any]]:
    return (pod.get("status") or {}).get("conditions") or []


def _problems(operator: OperatorLocation, pods: list[Manifest]) -> Iterator[tuple[str, str]]:
    """Each with its cure."""
    for pod in pods:
        for container in (pod.get("status") or {}).get("containerStatuses") or ():
            waiting = (container.get("state") or {}).get("waiting") or {}
            if waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
                yield _waiting_problem(operator, container, waiting)
    for pod in pods:
        for condition in _conditions(pod):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                cure = f"kubectl describe pods {operator.pod_selector}"
                yield f"a pod cannot be scheduled: {condition.get('message', '')}", cure


def _waiting_problem(
    operator: OperatorLocation, container: Mapping[str, Any], waiting: Mapping[str, Any]
) -> tuple[str, str]:
    reason = waiting["reason"]
    if reason in _IMAGE_REASONS:
        return f"{reason} of {container.get('image', '')}", _IMAGE_CURE
    if reason == "CrashLoopBackOff":
        return reason, f"see its log: kubectl logs --previous {operator.pod_selector}"
    return f"{reason}: {waiting.get('message', '')}", f"kubectl describe pods {operator.pod_selector}"
