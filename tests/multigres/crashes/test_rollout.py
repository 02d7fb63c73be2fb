"""Rollouts and scale-downs with a crash at every write evict the same pods in the same order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.support.crash_runs import (
    CRASH_MARKS,
    IsDone,
    count_writes,
    crash_at_every_write,
    run_until,
)
from tests.multigres.support.rollout_cluster import BETTER, GOOD, TWO_POOLS, RolloutCluster
from tests.multigres.support.topology_cluster import running_fake_data_plane
from tests.multigres.support.waiting import eventually, run_async
from tests.support.kubectl import Kubectl

pytestmark = CRASH_MARKS
ONE_POOL = {"main": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]}}
FEWER = {"main": {**ONE_POOL["main"], "replicasPerCell": 1}}


class Rolled(RolloutCluster):
    """A cluster whose operator crashes at every write."""

    def __init__(self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str, forwards: Path) -> None:
        super().__init__(kubectl, namespace, forwards)
        self.control_plane = control_plane
        self.audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)

    def is_settled(self, image: str, servers: int) -> bool:
        condition = self.shard_condition("RollingUpdate")
        return (
            self.images() == [image] * servers
            and condition is not None
            and condition["reason"] == "PodsUpToDate"
        )

    def run_until_done(self, is_done: IsDone) -> None:
        run_async(run_until(self.control_plane, self.namespace, is_done, connect_to=f"@{self.forwards}"))

    def crash_until(self, is_done: IsDone) -> int:
        where = {"connect_to": f"@{self.forwards}"}
        return run_async(crash_at_every_write(self.control_plane, self.namespace, is_done, **where))

    def waits_for(self, reason: str) -> bool:
        condition = self.shard_condition("ScaleDownPending")
        return condition is not None and condition["reason"] == reason


@pytest.fixture
def rolled(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Iterator[Rolled]:
    with running_fake_data_plane(control_plane, namespace, tmp_path) as forwards:
        yield Rolled(control_plane, kubectl, namespace, forwards)


def test_a_rolling_update_survives_a_crash_at_every_write(rolled: Rolled) -> None:
    rolled.apply_image(GOOD, TWO_POOLS)
    rolled.run_until_done(lambda: rolled.is_settled(GOOD, 3) and rolled.primary() != "")
    primary, before = rolled.primary(), rolled.uids()
    mark = run_async(rolled.audit.mark())
    rolled.apply_image(BETTER, TWO_POOLS)
    # Each of the three evictions crashes the operator twice, and so do most of the writes before them.
    assert rolled.crash_until(lambda: rolled.is_settled(BETTER, 3)) >= 2 * 3
    made = count_writes(run_async(rolled.audit.calls_since(mark)), rolled.namespace, "pods", "statefulsets")
    assert sorted(made["- pods"]) == sorted(before)
    assert made["- pods"][-1] == primary
    # Each came back. The number of creates is not exact: kwok deletes pods by name, sometimes the new one as well.
    assert set(made["+ pods"]) == set(before)
    assert made["+ statefulsets"] == made["- statefulsets"] == []
    assert not set(rolled.uids().values()) & set(before.values())


def test_scaling_down_past_a_primary_survives_a_crash_at_every_write(rolled: Rolled) -> None:
    rolled.apply_image(GOOD, ONE_POOL)
    rolled.run_until_done(lambda: rolled.is_settled(GOOD, 2) and rolled.primary() != "")
    lowest, highest = sorted(rolled.servers())
    if rolled.primary() != highest:
        rolled.kubectl("delete", "pod", lowest, "-n", rolled.namespace)
    eventually(lambda: rolled.primary() == highest and len(rolled.servers()) == 2, "the highest pod to lead")
    mark = run_async(rolled.audit.mark())
    rolled.apply_image(GOOD, FEWER)
    assert rolled.crash_until(lambda: rolled.waits_for("PrimaryWouldGo")) >= 2
    assert sorted(rolled.servers()) == [lowest, highest]
    rolled.kubectl("delete", "pod", highest, "-n", rolled.namespace)
    eventually(lambda: rolled.primary() == lowest, "another one to lead")
    poll_until = rolled.crash_until(
        lambda: sorted(rolled.servers()) == [lowest] and rolled.shard_condition("ScaleDownPending") is None
    )
    assert poll_until >= 2
    made = count_writes(run_async(rolled.audit.calls_since(mark)), rolled.namespace, "pods", "statefulsets")
    assert made["- pods"] == made["+ statefulsets"] == made["- statefulsets"] == []
