"""The TopologyRegistered condition of a new cluster, before the first check of its topology server."""

from typing import Any

import msgspec
import pytest

from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.cluster.registration_state import not_yet_registered
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.views import ClusterView

REGISTERED = {"type": "TopologyRegistered", "status": "True", "reason": "X", "message": ""}


def view(*conditions: dict[str, Any]) -> ClusterView:
    reported = [{**condition, "lastTransitionTime": "2026-01-01T00:00:00Z"} for condition in conditions]
    metadata = {"name": "mini", "namespace": "shop", "generation": 2}
    return msgspec.convert({"metadata": metadata, "status": {"conditions": reported}}, ClusterView)


def resolved(**spec: Any) -> ResolvedCluster:
    typed = msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)
    return resolve(ClusterIdentity("shop", "mini"), typed, Templates({}, {}, {}, {}))


def test_the_initial_status_waits_for_the_topology_server() -> None:
    [condition] = not_yet_registered(view(), resolved())
    assert (condition.status, condition.reason, condition.observed_generation) == (
        "False",
        reasons.TOPOLOGY_WAITING,
        2,
    )
    assert condition.message == "waiting for a ready member of mini-global-topo"


EXTERNAL = {"globalTopoServer": {"external": {"endpoints": ["https://etcd:2379"]}}}


@pytest.mark.parametrize(
    ("cluster", "spec"),
    [(view(REGISTERED), {}), (view(), EXTERNAL)],
    ids=["already reported", "external server"],
)
def test_a_reported_or_external_server_adds_no_condition(cluster: ClusterView, spec: dict[str, Any]) -> None:
    assert not_yet_registered(cluster, resolved(**spec)) == ()
