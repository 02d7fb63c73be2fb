"""When the Deployments of a component have restarted."""

from typing import Any

import pytest

from steward.cli.operations.deployment_restarts import is_rolled_out


def deployment(observed: int, replicas: int, updated: int, available: int) -> dict[str, Any]:
    status = {
        "observedGeneration": observed,
        "replicas": replicas,
        "updatedReplicas": updated,
        "availableReplicas": available,
    }
    return {"metadata": {"generation": 3}, "spec": {"replicas": 2}, "status": status}


@pytest.mark.parametrize(
    ("counts", "is_done"),
    [
        ((3, 2, 2, 2), True),
        ((2, 2, 2, 2), False),
        ((3, 3, 2, 2), False),
        ((3, 2, 1, 2), False),
        ((3, 2, 2, 1), False),
    ],
    ids=["done", "not observed", "an old pod is left", "one is to be replaced", "one is not available"],
)
def test_a_deployment_has_restarted_when_only_new_pods_are_left_and_available(
    counts: tuple[int, int, int, int], is_done: bool
) -> None:
    assert is_rolled_out(deployment(*counts)) is is_done
