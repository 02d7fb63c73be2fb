"""Which clusters are paused, and what their status says."""

from typing import Any

import msgspec
import pytest

from steward.multigres.status.conditions import ObjectHealth, StatusContext, common_status
from steward.multigres.status.pause import is_paused, pause_conditions, paused_since, with_paused_phase
from steward.multigres.views import ClusterView

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
HEALTHY = ObjectHealth("Healthy", "Healthy", "everything is ready", True, True)


def view(spec: dict[str, Any], status: Any = None, **metadata: Any) -> ClusterView:
    meta = {"name": "demo", "namespace": "ns", "uid": "u", "generation": 2, **metadata}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": status or {}}, ClusterView)


def status_of(cluster: ClusterView, now: str) -> dict[str, Any]:
    context = StatusContext(cluster.metadata, cluster.status.conditions, now)
    return with_paused_phase(common_status(context, HEALTHY, pause_conditions(cluster)))


@pytest.mark.parametrize(
    ("spec", "metadata", "expected"),
    [
        ({"paused": True}, {}, True),
        ({"paused": False}, {}, False),
        ({}, {}, False),
        ({"paused": True}, {"deletionTimestamp": EARLIER}, False),
    ],
    ids=["paused", "not-paused", "absent", "being-deleted"],
)
def test_a_cluster_is_paused_by_its_spec_until_it_is_deleted(
    spec: dict[str, Any], metadata: dict[str, Any], expected: bool
) -> None:
    assert is_paused(view(spec, **metadata)) is expected


def test_the_status_says_paused_and_keeps_the_time_and_the_health() -> None:
    first = status_of(view({"paused": True}), EARLIER)
    later = status_of(view({"paused": True}, first), LATER)
    assert later == first
    assert first["phase"] == "Paused"
    assert first["message"].startswith(f"paused since {EARLIER}")
    ready = next(each for each in first["conditions"] if each["type"] == "Ready")
    assert ready["status"] == "True"
    assert paused_since(view({"paused": True}, first)) == EARLIER


def test_the_condition_ends_with_the_pause() -> None:
    paused = status_of(view({"paused": True}), EARLIER)
    resumed = status_of(view({}, paused), LATER)
    assert resumed["phase"] == "Healthy"
    assert "Paused" not in {each["type"] for each in resumed["conditions"]}
    assert paused_since(view({}, paused)) == ""
