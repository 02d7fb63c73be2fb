"""Problems of pods and volumes, with the messages of the kubelet and the scheduler."""

from typing import Any

import msgspec
import pytest

from steward.multigres.status.pod_problems import (
    UNBOUND_MAX_SECONDS,
    UNBOUND_SECONDS,
    ProvisioningTimes,
    first_hint,
    first_problem,
    has_exited,
)
from steward.multigres.views import ClaimView, PodView

CREATED = "2026-01-01T00:00:00Z"
SOON, LATER = 1767225602.0, 1767225620.0


def pod(**status: Any) -> PodView:
    meta = {"name": "pool-0", "namespace": "shop", "creationTimestamp": CREATED}
    return msgspec.convert({"metadata": meta, "status": status}, PodView)


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"name": "postgres", "state": {"waiting": {"reason": reason, "message": message}}}


def crash_loop(exit_code: int, message: str) -> dict[str, Any]:
    """With the message of a kubelet, which changes with every crash."""
    return waiting("CrashLoopBackOff", message) | {
        "lastState": {"terminated": {"reason": "Error", "exitCode": exit_code}}
    }


def between_crashes(restarts: int) -> dict[str, Any]:
    """It runs again, for now."""
    ended = {"terminated": {"reason": "Error", "exitCode": 1}}
    return {"name": "postgres", "restartCount": restarts, "state": {"running": {}}, "lastState": ended}


def claim(phase: str) -> ClaimView:
    meta = {"name": "data-pool-0", "namespace": "shop", "creationTimestamp": CREATED}
    return msgspec.convert({"metadata": meta, "status": {"phase": phase}}, ClaimView)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"containerStatuses": [waiting("ContainerCreating")]}, ""),
        (
            {"containerStatuses": [waiting("CrashLoopBackOff", "back-off 40s")]},
            "pod pool-0: container postgres is in CrashLoopBackOff (back-off 40s)",
        ),
        (
            {
                "containerStatuses": [
                    crash_loop(3, "back-off 20s restarting failed container=postgres pod=pool-0")
                ]
            },
            "pod pool-0: container postgres is in CrashLoopBackOff (exit code 3)",
        ),
        (
            {"initContainerStatuses": [waiting("ImagePullBackOff", 'Back-off pulling image "x:y"')]},
            'pod pool-0: container postgres is in ImagePullBackOff (Back-off pulling image "x:y")',
        ),
        (
            {"containerStatuses": [waiting("CreateContainerConfigError", 'secret "keys" not found')]},
            'pod pool-0: container postgres is in CreateContainerConfigError (secret "keys" not found)',
        ),
        (
            {
                "containerStatuses": [
                    {
                        "name": "postgres",
                        "restartCount": 3,
                        "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}},
                    }
                ]
            },
            "pod pool-0: container postgres is in OOMKilled (restarted 3 times)",
        ),
        ({"containerStatuses": [between_crashes(2)]}, ""),
        (
            {"containerStatuses": [between_crashes(3)]},
            "pod pool-0: container postgres is in Error (restarted 3 times)",
        ),
        ({"containerStatuses": [{**between_crashes(9), "ready": True}]}, ""),
    ],
)
def test_a_lasting_container_failure_is_a_problem(status: dict[str, Any], message: str) -> None:
    assert first_problem([pod(**status)]) == message


def test_a_lost_volume_is_a_problem() -> None:
    assert first_problem([], [claim("Lost")]) == "volume claim data-pool-0 has lost its volume"


def unscheduled(message: str) -> PodView:
    return pod(conditions=[{"type": "PodScheduled", "status": "False", "message": message}])


UNSCHEDULED = unscheduled("0/3 nodes are available")
WITHOUT_VOLUME = unscheduled("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims")


@pytest.mark.parametrize(
    ("pods", "claims", "now", "message"),
    [
        ([UNSCHEDULED], [], SOON, ""),
        ([UNSCHEDULED], [], LATER, "pod pool-0 cannot be scheduled: 0/3 nodes are available"),
        ([], [claim("Pending")], SOON, ""),
        ([], [claim("Pending")], LATER, "volume claim data-pool-0 is not bound"),
        ([], [claim("Bound")], LATER, ""),
        (
            [UNSCHEDULED],
            [claim("Pending")],
            LATER,
            "pod pool-0 cannot be scheduled: 0/3 nodes are available",
        ),
        (
            [WITHOUT_VOLUME],
            [claim("Pending")],
            LATER,
            "volume claim data-pool-0 is not bound; pod pool-0 cannot be scheduled: 0/3 nodes are available: "
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_a_state_that_may_pass_is_a_hint_after_some_seconds(
    pods: list[PodView], claims: list[ClaimView], now: float, message: str
) -> None:
    assert first_hint(pods, claims, ProvisioningTimes(now)) == message


@pytest.mark.parametrize("waiting", [([WITHOUT_VOLUME], []), ([], [claim("Pending")])], ids=["pod", "claim"])
def test_an_unbound_claim_is_no_hint_while_others_are_bound_unless_it_takes_long(
    waiting: tuple[list[PodView], list[ClaimView]],
) -> None:
    assert not first_hint(*waiting, ProvisioningTimes(LATER, LATER - 1))
    assert first_hint(*waiting, ProvisioningTimes(LATER, LATER - UNBOUND_SECONDS - 1))
    much_later = LATER + UNBOUND_MAX_SECONDS
    assert first_hint(*waiting, ProvisioningTimes(much_later, much_later - 1))


def test_a_pod_without_a_node_is_a_hint_even_while_volumes_are_bound() -> None:
    assert first_hint([UNSCHEDULED], [], ProvisioningTimes(LATER, LATER - 1))


@pytest.mark.parametrize(
    ("container", "ended"),
    [
        ({"name": "gateway", "ready": True}, False),
        ({"name": "gateway", "state": {"waiting": {"reason": "ContainerCreating"}}}, False),
        ({"name": "gateway", "state": {"terminated": {"exitCode": 1}}}, True),
        ({"name": "gateway", "ready": True, "restartCount": 1}, True),
    ],
)
def test_a_pod_has_exited_once_a_container_terminated(container: dict[str, Any], ended: bool) -> None:
    assert has_exited([pod(containerStatuses=[container])]) is ended
