"""What is wrong with pods and volumes, in the words of those who know: the kubelet, the scheduler, the binder. Pure.

Only what will not pass by itself is trouble: not a container that is being made, but one that crashes again and again.
"""

import calendar
import time
from collections.abc import Iterable
from typing import TypeVar

from steward.kube.meta import HasMetadata
from steward.multigres.views import ClaimView, ContainerStatus, PodView

STUCK_REASONS = frozenset(
    {
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "OOMKilled",
    }
)
OFTEN = 3
PATIENCE = 5.0

T = TypeVar("T", bound=HasMetadata)


def pod_trouble(pod: PodView) -> str:
    """One sentence, or nothing."""
    if pod.metadata.deletion_timestamp is not None:
        return ""
    for container in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if told := _container_trouble(container):
            return f"pod {pod.metadata.name}: {told}"
    return ""


def _container_trouble(container: ContainerStatus) -> str:
    waiting, ended = container.state.waiting, container.state.terminated
    if waiting is not None and waiting.reason in STUCK_REASONS:
        return _told(container, waiting.reason, waiting.message)
    if ended is not None and not container.ready and container.restart_count >= OFTEN and ended.exit_code:
        return _told(container, ended.reason or "Error", f"restarted {container.restart_count} times")
    return ""


def _told(container: ContainerStatus, reason: str, message: str) -> str:
    words = f"container {container.name} is in {reason}"
    return f"{words} ({message})" if message else words


def first_hint(pods: Iterable[PodView], claims: Iterable[ClaimView], now: float) -> str:
    """What may well pass by itself and has not for a while: worth a word, not an alarm."""
    for pod in _by_name(pods):
        told = _unscheduled(pod, now)
        if told:
            return told
    waiting = [
        claim for claim in _by_name(claims) if claim.status.phase == "Pending" and _age(claim, now) > PATIENCE
    ]
    return f"volume claim {waiting[0].metadata.name} is not bound" if waiting else ""


def _unscheduled(pod: PodView, now: float) -> str:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False" and _age(pod, now) > PATIENCE:
            return f"pod {pod.metadata.name} cannot be scheduled: {condition.message}"
    return ""


def _age(seen: HasMetadata, now: float) -> float:
    created = seen.metadata.creation_timestamp
    return 0.0 if created is None else now - calendar.timegm(time.strptime(created, "%Y-%m-%dT%H:%M:%SZ"))


def _by_name(seen: Iterable[T]) -> list[T]:
    """In order of name, so that the same world always tells the same sentence."""
    return sorted(seen, key=lambda known: known.metadata.name)


def first_trouble(pods: Iterable[PodView], claims: Iterable[ClaimView] = ()) -> str:
    for pod in _by_name(pods):
        if told := pod_trouble(pod):
            return told
    for claim in _by_name(claims):
        if claim.status.phase == "Lost":
            return f"volume claim {claim.metadata.name} has lost its volume"
    return ""
