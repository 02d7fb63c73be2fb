"""What a new cluster says before anybody has looked at its topology server."""

from typing import Any

import msgspec
import pytest

from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.cluster.reconciler import _not_yet_registered
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, ResolvedCluster, Templates
from steward.multigres.views import ClusterView

REGISTERED = {"type": "TopologyRegistered", "status": "True", "reason": "X", "message": ""}


def view(*conditions: dict[str, Any]) -> ClusterView:
    told = [{**condition, "lastTransitionTime": "2026-01-01T00:00:00Z"} for condition in conditions]
    metadata = {"name": "mini", "namespace": "shop", "generation": 2}
    return msgspec.convert({"metadata": metadata, "status": {"conditions": told}}, ClusterView)


def resolved(**spec: Any) -> ResolvedCluster:
    typed = msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)
    return resolve(Identity("shop", "mini"), typed, Templates({}, {}, {}, {}))


def test_its_records_wait_for_its_server() -> None:
    [told] = _not_yet_registered(view(), resolved())
    assert (told.status, told.reason, told.observed_generation) == ("False", reasons.TOPOLOGY_WAITING, 2)
    assert told.message == "waiting for a ready member of mini-global-topo"


EXTERNAL = {"globalTopoServer": {"external": {"endpoints": ["https://etcd:2379"]}}}


@pytest.mark.parametrize(
    ("seen", "spec"),
    [(view(REGISTERED), {}), (view(), EXTERNAL)],
    ids=["somebody looked", "a foreign server"],
)
def test_what_others_know_better_is_left_to_them(seen: ClusterView, spec: dict[str, Any]) -> None:
    assert _not_yet_registered(seen, resolved(**spec)) == ()
