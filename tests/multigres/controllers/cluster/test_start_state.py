"""Which clusters have yet to be started."""

from typing import Any

import msgspec
import pytest

from steward.multigres.controllers.cluster.start_state import is_new, is_waiting_to_start
from steward.multigres.objects.metadata import FINALIZER, GO_FINALIZERS
from steward.multigres.views import ClusterView

REPORTED = {"observedGeneration": 2, "phase": "Initializing"}


def cluster(status: dict[str, Any], *finalizers: str) -> ClusterView:
    metadata = {"name": "shop", "namespace": "ns", "generation": 2, "finalizers": finalizers}
    return msgspec.convert({"metadata": metadata, "status": status}, ClusterView)


def test_a_cluster_without_our_finalizer_is_new() -> None:
    assert is_new(cluster({}, "example.com/other"))


@pytest.mark.parametrize("finalizer", [FINALIZER, *GO_FINALIZERS])
def test_a_cluster_that_has_children_is_not_new(finalizer: str) -> None:
    assert not is_new(cluster(REPORTED, finalizer))
    assert not is_waiting_to_start(cluster(REPORTED, finalizer))


def test_a_new_cluster_with_its_initial_status_waits_to_start() -> None:
    assert is_waiting_to_start(cluster(REPORTED))


@pytest.mark.parametrize(
    "status",
    [{}, {**REPORTED, "observedGeneration": 1}, {**REPORTED, "phase": "Degraded"}],
    ids=["no status", "edited", "stalled"],
)
def test_a_new_cluster_with_something_to_report_does_not_wait(status: dict[str, Any]) -> None:
    assert not is_waiting_to_start(cluster(status))
