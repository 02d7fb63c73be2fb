"""What is wrong with pods and volumes, in the words of those who know: the kubelet, the scheduler, the binder. Pure.

Only what will not pass by itself is trouble: not a container that is being made, but one that crashes again and again.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from steward.kube.objects.meta import HasMetadata
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres.views import ClaimView, ContainerStatus, PodView

STUCK_REASONS = frozenset(
    {
        "CrashLoopBackOff",
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
OFTEN = 3
PATIENCE = 5.0
VOLUME_PATIENCE = 10.0
"""Where volumes are waited for: so long after the last one was bound. Whoever makes them takes one after another."""
VOLUME_SECONDS = 60.0
"""However many others are bound meanwhile."""
CLAIM = "PersistentVolumeClaim"
"""What the scheduler says where a volume is the reason."""

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
    waiting = container.state.waiting
    if waiting is not None and waiting.reason in STUCK_REASONS:
        return _told(container, waiting.reason, waiting.message)
    # Between two crashes it runs, or is made anew: it is in trouble until it is ready, not only while it lies there.
    ended = container.state.terminated or container.last_state.terminated
    if ended is not None and not container.ready and container.restart_count >= OFTEN and ended.exit_code:
        return _told(container, ended.reason or "Error", f"restarted {container.restart_count} times")
    return ""


def _told(container: ContainerStatus, reason: str, message: str) -> str:
    words = f"container {container.name} is in {reason}"
    return f"{words} ({message})" if message else words


class Moment(NamedTuple):
    """Now, and when a volume was last bound to a claim, whosever it is."""

    now: float
    last_bound: float = float("-inf")


def has_ended(pods: Iterable[PodView]) -> bool:
    """Whether a container of theirs ran and came to an end, however often it was started again."""
    return any(container.restart_count or container.state.terminated for container in _containers(pods))


def _containers(pods: Iterable[PodView]) -> Iterable[ContainerStatus]:
    return (container for pod in pods for container in pod.status.container_statuses)


def first_hint(pods: Iterable[PodView], claims: Iterable[ClaimView], at: Moment) -> str:
    """What may well pass by itself and has not for a while: worth a word, not an alarm."""
    unscheduled = next((told for pod in _by_name(pods) if (told := _unscheduled(pod, at))), "")
    unbound = next((told for claim in _by_name(claims) if (told := _unbound(claim, at))), "")
    # A volume that waits for its pod is no news beside a pod that finds no node; one that keeps it off every node is.
    if not unscheduled or CLAIM in unscheduled:
        return "; ".join(filter(None, (unbound, unscheduled)))
    return unscheduled


def _unbound(claim: ClaimView, at: Moment) -> str:
    is_waiting = claim.status.phase == "Pending" and _lacks_a_volume_for_long(claim, at)
    return f"volume claim {claim.metadata.name} is not bound" if is_waiting else ""


def _unscheduled(pod: PodView, at: Moment) -> str:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            lacks_volumes = CLAIM in condition.message
            is_long = _lacks_a_volume_for_long(pod, at) if lacks_volumes else _age(pod, at.now) > PATIENCE
            return f"pod {pod.metadata.name} cannot be scheduled: {condition.message}" if is_long else ""
    return ""


def _lacks_a_volume_for_long(seen: HasMetadata, at: Moment) -> bool:
    age = _age(seen, at.now)
    return age > VOLUME_SECONDS or min(age, at.now - at.last_bound) > VOLUME_PATIENCE


def _age(seen: HasMetadata, now: float) -> float:
    created = seen.metadata.creation_timestamp
    return 0.0 if created is None else now - from_timestamp(created)


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
