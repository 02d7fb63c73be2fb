"""Rollouts and scale-downs with a crash at every write evict the same pods in the same order."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.support.crash_runs import IsDone, count_writes, crash_at_every_write, run_until
from tests.multigres.support.rollout_cluster import BETTER, GOOD, TWO_POOLS, RolloutCluster
from tests.multigres.support.topology_cluster import running_fake_data_plane
from tests.multigres.support.waiting import run_async
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

pytestmark = CRASH_MARKS
ONE = {"type": "readWrite", "replicasPerCell": 1, "cells": ["z1"]}
TWO = {**ONE, "replicasPerCell": 2}
FIRST_AND_SECOND = {"first": ONE, "second": TWO}
SECOND_ONLY = {"first": {**ONE, "replicasPerCell": 0}, "second": TWO}
TWO_AND_TWO = {"first": TWO, "second": {**TWO, "cells": ["z2"]}}


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

    def run_until_led_by(self, pool: str, image: str, servers: int) -> list[str]:
        """Runs one operator until a server of this pool leads; returns the pool's servers."""
        self.run_until_done(lambda: self.is_settled(image, servers) and self.primary() != "")
        found = sorted(name for name in self.servers() if pool in name)
        self.run_until_done(lambda: self._is_led_by(found[0]))
        return found

    def _is_led_by(self, pod: str) -> bool:
        """Elections choose the first name that is ready: ends the pod of any other primary."""
        leader = self.primary()
        if leader not in ("", pod) and self.servers_are_ready():
            self.kubectl("delete", "pod", leader, "-n", self.namespace)
        return leader == pod and self.servers_are_ready()

    def pool_sets(self) -> list[str]:
        label = "app.kubernetes.io/component=shard-pool"
        found = self.kubectl.json("get", "sts", "-n", self.namespace, "-l", label)["items"]
        return [each["metadata"]["name"] for each in found]


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
    # Each of the three evictions crashes the operator, and so do most of the writes before them.
    assert rolled.crash_until(lambda: rolled.is_settled(BETTER, 3)) >= 3
    made = count_writes(run_async(rolled.audit.calls_since(mark)), rolled.namespace, "pods", "statefulsets")
    assert sorted(made["- pods"]) == sorted(before)
    assert made["- pods"][-1] == primary
    # Each came back. The number of creates is not exact: kwok deletes pods by name, sometimes the new one as well.
    # The pod of the repository has the same image; its name is not in the request.
    assert set(made["+ pods"]) - {""} == set(before)
    assert made["+ statefulsets"] == made["- statefulsets"] == []
    assert not set(rolled.uids().values()) & set(before.values())


def test_scaling_down_past_a_primary_survives_a_crash_at_every_write(rolled: Rolled) -> None:
    rolled.apply_image(GOOD, FIRST_AND_SECOND)
    [leaving] = rolled.run_until_led_by("-first-", GOOD, 3)
    mark = run_async(rolled.audit.mark())
    rolled.apply_image(GOOD, SECOND_ONLY)
    stays = set(rolled.servers()) - {leaving}
    crashes = rolled.crash_until(
        lambda: set(rolled.servers()) == stays and rolled.shard_condition("ScaleDownPending") is None
    )
    assert crashes >= 1
    assert rolled.wait_primary() in stays
    made = count_writes(run_async(rolled.audit.calls_since(mark)), rolled.namespace, "pods", "statefulsets")
    assert made["- pods"] == made["+ statefulsets"] == made["- statefulsets"] == []


def test_the_removal_of_a_pool_with_the_primary_survives_a_crash_at_every_write(rolled: Rolled) -> None:
    rolled.apply_image(GOOD, TWO_AND_TWO)
    rolled.run_until_led_by("-first-", GOOD, 4)
    stays = {name for name in rolled.servers() if "-second-" in name}
    rolled.apply_image(GOOD, {"second": TWO_AND_TWO["second"]})
    crashes = rolled.crash_until(
        lambda: (
            set(rolled.servers()) == stays
            and len(rolled.pool_sets()) == 1
            and rolled.shard_condition("ScaleDownPending") is None
        )
    )
    assert crashes >= 3
    assert rolled.wait_primary() in stays
