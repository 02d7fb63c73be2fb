"""`steward doctor` on the operators' pods."""

from __future__ import annotations

from typing import Any

import pytest

from steward.cli.doctor.checks import Grade, OperatorLocation
from steward.cli.doctor.pods import check_pods, lease_names, not_installed

OPERATOR = OperatorLocation("multigres-operator", "system")


def pod(waiting: dict[str, str] | None = None, *, ready: bool = False, **conditions: str) -> dict[str, Any]:
    state = {"waiting": waiting} if waiting else {"running": {}}
    listed = [{"type": "Ready", "status": str(ready)}]
    listed += [{"type": name, "status": "False", "message": text} for name, text in conditions.items()]
    return {
        "status": {
            "conditions": listed,
            "containerStatuses": [{"name": "operator", "image": "steward:0.1.0", "state": state}],
        }
    }


PULL = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
CASES = [
    pytest.param([pod(ready=True), pod(ready=True)], Grade.FINE, "2 of 2 ready", "", id="all are ready"),
    pytest.param(
        [pod(ready=True), pod(PULL)],
        Grade.BROKEN,
        "1 of 2 ready: ImagePullBackOff of steward:0.1.0",
        "image.repository",
        id="an image that cannot be pulled",
    ),
    pytest.param(
        [pod({"reason": "CrashLoopBackOff"})],
        Grade.BROKEN,
        "0 of 2 ready: CrashLoopBackOff",
        "kubectl logs --previous -n system",
        id="a container that ends again and again",
    ),
    pytest.param(
        [pod({"reason": "CreateContainerConfigError", "message": 'secret "a" not found'})],
        Grade.BROKEN,
        '0 of 2 ready: CreateContainerConfigError: secret "a" not found',
        "kubectl describe pods",
        id="a missing Secret",
    ),
    pytest.param(
        [pod({"reason": "ContainerCreating"}, PodScheduled="0/1 nodes are available")],
        Grade.BROKEN,
        "0 of 2 ready: a pod cannot be scheduled: 0/1 nodes are available",
        "kubectl describe pods",
        id="no node",
    ),
    pytest.param([], Grade.BROKEN, "0 of 2 ready", "kubectl describe pods", id="no pods"),
]


@pytest.mark.parametrize(("pods", "grade", "message", "cure"), CASES)
def test_pods_that_are_not_ready_are_reported_with_the_reason(
    pods: list[dict[str, Any]], grade: Grade, message: str, cure: str
) -> None:
    found = check_pods(OPERATOR, [{"spec": {"replicas": 2}}], pods)
    assert (found.subject, found.grade, found.message) == ("multigres-operator pods", grade, message)
    assert cure in found.cure


def test_a_deployment_without_replicas_is_broken() -> None:
    found = check_pods(OPERATOR, [{"spec": {"replicas": 0}}], [])
    assert (found.grade, found.message) == (Grade.BROKEN, "it has no replicas")
    assert "kubectl scale -n system deployment/multigres-operator --replicas=2" in found.cure


def test_a_cluster_without_steward_is_one_sentence_with_the_command_that_installs_it() -> None:
    found = not_installed(["multigres-operator", "tenant-operator"], "steward-system")
    assert found.message == (
        "is not installed in this cluster: no definitions, and no multigres-operator or tenant-operator "
        "in steward-system"
    )
    assert found.cure.startswith("steward install --apply")


def test_pods_of_all_partitions_are_counted() -> None:
    found = check_pods(OPERATOR, [{"spec": {"replicas": 2}}, {"spec": {"replicas": 2}}], [])
    assert found.message == "0 of 4 ready"


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["run", "tenants"], ["tenant-operator"]),
        (["run", "tenants", "--shard=0/1"], ["tenant-operator"]),
        (["run", "tenants", "--shard=0/2"], ["tenant-operator-0-of-2", "tenant-operator-1-of-2"]),
    ],
)
def test_each_partition_has_a_lease(args: list[str], names: list[str]) -> None:
    deployment = {"spec": {"template": {"spec": {"containers": [{"args": args}]}}}}
    assert lease_names("tenant-operator", deployment) == names
    assert lease_names("tenant-operator", None) == ["tenant-operator"]
