"""Settings of a new shard whose Postgres has never started can be lowered: the stand-in's servers have no data."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.rollout_cluster import GOOD, RolloutCluster
from tests.multigres.support.waiting import eventually
from tests.support import data_planes
from tests.support.kubectl import Kubectl

LONG_AGO = "2026-01-01T00:00:00Z"
# The refusal must be seen before the servers have had their time, also on a machine that is busy.
PERIODS = {**EARLY_STATUS, "steward.multigres.rollout.first_start:START_SECONDS": 15.0}


class NewShard(RolloutCluster):
    """A cluster whose shard first has no servers, so that a fault is there before they are."""

    def change(self, replicas: int, max_connections: int) -> None:
        pools = {"main": {"type": "readWrite", "replicasPerCell": replicas, "cells": ["z1"]}}
        settings = {"postgres": {"settings": {"max_connections": max_connections}}}
        self.apply_image(GOOD, pools, settings, cells=[{"zone": "z1"}])

    def written(self) -> str:
        found = self.clusters.get("configmap", f"{self.shard_name}-postgres-config")
        return str(((found or {}).get("data") or {}).get("postgresql.conf"))

    def states(self) -> list[str]:
        status = (self.shard or {}).get("status") or {}
        return [each["state"] for each in status.get("servers", [])]

    def refusal(self) -> str:
        return str((self.shard_condition("PostgresConfigRefused") or {}).get("message"))

    def make_started_long_ago(self) -> None:
        """The operator gives servers a while to start."""
        for pod, found in self.servers().items():
            conditions = [
                {**each, "lastTransitionTime": LONG_AGO} if each["type"] == "Initialized" else each
                for each in found["status"]["conditions"]
            ]
            patch = ("--type=merge", "--subresource=status", "-p", _status(conditions))
            self.kubectl("patch", "pod", pod, "-n", self.namespace, *patch)


def _status(conditions: list[dict[str, str]]) -> str:
    return json.dumps({"status": {"conditions": conditions}})


@pytest.fixture
def new(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Iterator[NewShard]:
    with running_operator(control_plane, namespace, tmp_path / "operator.log", periods=PERIODS):
        yield NewShard(kubectl, namespace, data_planes.forwards_file(control_plane), "new")


def test_a_new_shard_that_cannot_start_takes_a_correction_and_one_that_has_started_refuses_it(
    new: NewShard,
) -> None:
    new.change(0, 5000)
    eventually(lambda: new.shard and "'5000'" in new.written(), "the Shard")
    new.inject_server_faults("postgres-down")
    new.change(2, 5000)
    eventually(lambda: new.states() == ["Starting"] * 2, "servers without data")

    new.change(2, 200)
    eventually(
        lambda: "from 5000 to 200, while servers start for the first time" in new.refusal(), "the refusal"
    )
    assert "'5000'" in new.written()

    new.make_started_long_ago()
    eventually(lambda: "'200'" in new.written(), "the correction")
    eventually(lambda: new.shard_condition("PostgresConfigRefused") is None, "no refusal")

    new.clear_server_faults()
    new.wait_updated(GOOD, 2)
    # Servers that have data are down, and there is no primary.
    new.inject_server_faults("postgres-down")
    eventually(lambda: new.states() == ["Down"] * 2, "all servers to be down")
    new.make_started_long_ago()
    new.change(2, 150)
    condition = new.wait_shard_condition("PostgresConfigRefused", "SettingsLowered")
    assert "from 200 to 150, and no standby would start any more" in condition["message"]
    assert "'200'" in new.written()
