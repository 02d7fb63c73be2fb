"""Pods are replaced and go although the operator is killed at every write on the way: as many, in the same order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.integration.test_operator import eventually
from tests.multigres.integration.test_rollout import BETTER, GOOD, TWO_POOLS, Subject
from tests.multigres.integration.test_topology import run, running_stand_in
from tests.multigres.support.process_lives import OF_LIVES, IsOver, counted, killed_at_every_write, lived
from tests.support.kubectl import Kubectl

pytestmark = OF_LIVES
ONE_POOL = {"main": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]}}
FEWER = {"main": {**ONE_POOL["main"], "replicasPerCell": 1}}


class Rolled(Subject):
    """A cluster, and all lives of the operator that looks after it."""

    def __init__(self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str, forwards: Path) -> None:
        super().__init__(kubectl, namespace, forwards)
        self.control_plane = control_plane
        self.audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)

    def is_settled(self, image: str, servers: int) -> bool:
        told = self.told("RollingUpdate")
        return self.images() == [image] * servers and told is not None and told["reason"] == "PodsUpToDate"

    def until(self, is_over: IsOver) -> None:
        run(lived(self.control_plane, self.namespace, is_over, connect_to=f"@{self.forwards}"))

    def lives(self, is_over: IsOver) -> int:
        where = {"connect_to": f"@{self.forwards}"}
        return run(killed_at_every_write(self.control_plane, self.namespace, is_over, **where))

    def waits_for(self, reason: str) -> bool:
        told = self.told("ScaleDownPending")
        return told is not None and told["reason"] == reason


@pytest.fixture
def rolled(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Iterator[Rolled]:
    with running_stand_in(control_plane, namespace, tmp_path) as forwards:
        yield Rolled(control_plane, kubectl, namespace, forwards)


def test_a_rolling_change_survives_a_kill_at_every_write(rolled: Rolled) -> None:
    rolled.run_on(GOOD, TWO_POOLS)
    rolled.until(lambda: rolled.is_settled(GOOD, 3) and rolled.primary() != "")
    primary, before = rolled.primary(), rolled.uids()
    mark = run(rolled.audit.mark())
    rolled.run_on(BETTER, TWO_POOLS)
    # Each of the three evictions ends two lives, and so do most of the writes before them.
    assert rolled.lives(lambda: rolled.is_settled(BETTER, 3)) >= 2 * 3
    made = counted(run(rolled.audit.calls_since(mark)), rolled.namespace, "pods", "statefulsets")
    assert sorted(made["- pods"]) == sorted(before)
    assert made["- pods"][-1] == primary
    # Each came back; not "three times": kwok ends pods by name, now and then the namesake that has just come, too.
    assert set(made["+ pods"]) == set(before)
    assert made["+ statefulsets"] == made["- statefulsets"] == []
    assert not set(rolled.uids().values()) & set(before.values())


def test_scaling_down_past_a_primary_survives_a_kill_at_every_write(rolled: Rolled) -> None:
    rolled.run_on(GOOD, ONE_POOL)
    rolled.until(lambda: rolled.is_settled(GOOD, 2) and rolled.primary() != "")
    lowest, highest = sorted(rolled.servers())
    if rolled.primary() != highest:
        rolled.kubectl("delete", "pod", lowest, "-n", rolled.namespace)
    eventually(lambda: rolled.primary() == highest and len(rolled.servers()) == 2, "the highest pod to lead")
    mark = run(rolled.audit.mark())
    rolled.run_on(GOOD, FEWER)
    assert rolled.lives(lambda: rolled.waits_for("PrimaryWouldGo")) >= 2
    assert sorted(rolled.servers()) == [lowest, highest]
    rolled.kubectl("delete", "pod", highest, "-n", rolled.namespace)
    eventually(lambda: rolled.primary() == lowest, "another one to lead")
    over = rolled.lives(
        lambda: sorted(rolled.servers()) == [lowest] and rolled.told("ScaleDownPending") is None
    )
    assert over >= 2
    made = counted(run(rolled.audit.calls_since(mark)), rolled.namespace, "pods", "statefulsets")
    assert made["- pods"] == made["+ statefulsets"] == made["- statefulsets"] == []
