"""Finds problems of pods and volumes in the messages of the kubelet, the scheduler and the volume binder. Pure.

Only a failure that does not pass without a user is a problem: not a container that is being created, but one that
crashes again and again.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from steward.kube.objects.meta import HasMetadata
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres.views import ClaimView, ContainerStatus, PodView

CRASH_LOOP = "CrashLoopBackOff"
STUCK_REASONS = frozenset(
    {
        CRASH_LOOP,
        "ImagePullBackOff",
        "ErrImagePull",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
        "InvalidImageName",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "OOMKilled",
    }
)
CRASH_RESTARTS = 3
UNSCHEDULED_SECONDS = 5.0
UNBOUND_SECONDS = 10.0
"""How long after the latest binding of any volume an unbound claim is reported: provisioners work one by one."""
UNBOUND_MAX_SECONDS = 60.0
"""After this time an unbound claim is reported even if other volumes are still being bound."""
CLAIM = "PersistentVolumeClaim"
"""Part of the scheduler's message if a volume is the cause."""

T = TypeVar("T", bound=HasMetadata)


class ProvisioningTimes(NamedTuple):
    """The time now, and the time at which any volume was last bound to a claim."""

    now: float
    last_bound: float = float("-inf")


def pod_problem(pod: PodView) -> str:
    """A message about the first failing container, or ""."""
    if pod.metadata.deletion_timestamp is not None:
        return ""
    for container in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if problem := _container_problem(container):
            return f"pod {pod.metadata.name}: {problem}"
    return ""


def _container_problem(container: ContainerStatus) -> str:
    waiting = container.state.waiting
    # Between two crashes the container runs or is created again; it stays a problem until it is ready.
    ended = container.state.terminated or container.last_state.terminated
    if waiting is not None and waiting.reason == CRASH_LOOP and ended is not None:
        # The kubelet's own message has the growing delay and the uid of the pod: it changes and says nothing more.
        return _container_message(container, CRASH_LOOP, f"exit code {ended.exit_code}")
    if waiting is not None and waiting.reason in STUCK_REASONS:
        return _container_message(container, waiting.reason, waiting.message)
    has_crashed = container.restart_count >= CRASH_RESTARTS and not container.ready
    if ended is not None and has_crashed and ended.exit_code:
        message = f"restarted {container.restart_count} times"
        return _container_message(container, ended.reason or "Error", message)
    return ""


def _container_message(container: ContainerStatus, reason: str, message: str) -> str:
    state = f"container {container.name} is in {reason}"
    return f"{state} ({message})" if message else state


def has_exited(pods: Iterable[PodView]) -> bool:
    """Whether a container ran and exited, even if it was restarted."""
    return any(container.restart_count or container.state.terminated for container in _containers(pods))


def _containers(pods: Iterable[PodView]) -> Iterable[ContainerStatus]:
    return (container for pod in pods for container in pod.status.container_statuses)


def first_problem(pods: Iterable[PodView], claims: Iterable[ClaimView] = ()) -> str:
    for pod in _by_name(pods):
        if problem := pod_problem(pod):
            return problem
    for claim in _by_name(claims):
        if claim.status.phase == "Lost":
            return f"volume claim {claim.metadata.name} has lost its volume"
    return ""


def first_hint(pods: Iterable[PodView], claims: Iterable[ClaimView], times: ProvisioningTimes) -> str:
    """A state that may pass without a user and has lasted for a while: reported in the message, not as a problem."""
    unscheduled = next((hint for pod in _by_name(pods) if (hint := _unscheduled(pod, times))), "")
    unbound = next((hint for claim in _by_name(claims) if (hint := _unbound(claim, times))), "")
    # A claim that waits for its pod adds nothing to a pod without a node, unless the claim is why it has none.
    if not unscheduled or CLAIM in unscheduled:
        return "; ".join(filter(None, (unbound, unscheduled)))
    return unscheduled


def _unbound(claim: ClaimView, times: ProvisioningTimes) -> str:
    is_waiting = claim.status.phase == "Pending" and _lacks_volume_for_long(claim, times)
    return f"volume claim {claim.metadata.name} is not bound" if is_waiting else ""


def _unscheduled(pod: PodView, times: ProvisioningTimes) -> str:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            is_long = _age(pod, times.now) > UNSCHEDULED_SECONDS
            if CLAIM in condition.message:
                is_long = _lacks_volume_for_long(pod, times)
            return f"pod {pod.metadata.name} cannot be scheduled: {condition.message}" if is_long else ""
    return ""


def _lacks_volume_for_long(live: HasMetadata, times: ProvisioningTimes) -> bool:
    age = _age(live, times.now)
    return age > UNBOUND_MAX_SECONDS or min(age, times.now - times.last_bound) > UNBOUND_SECONDS


def _age(live: HasMetadata, now: float) -> float:
    created = live.metadata.creation_timestamp
    return 0.0 if created is None else now - from_timestamp(created)


def _by_name(objects: Iterable[T]) -> list[T]:
    """Sorted, so that the same objects always give the same message."""
    return sorted(objects, key=lambda live: live.metadata.name)
