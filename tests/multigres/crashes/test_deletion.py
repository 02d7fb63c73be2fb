"""A deletion with a crash at every write ends with nothing left and nothing deleted twice.

A topology server and its dependents are created without a cluster and deleted at once, so that one waits for the other.
"""

from steward.local.control_plane import ControlPlane
from tests.multigres.support.crash_scenario import CrashScenario
from tests.multigres.support.toposerver_objects import TOPO
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

GOING = "toposerver/my-etcd", "cell/my-gateway", "shard/my-shard"
STANDING = {"globalTopoServer": TOPO, "topoServerRef": {"name": "my-etcd"}}

pytestmark = CRASH_MARKS


class Standing(CrashScenario):
    def begin(self) -> None:
        self.make("TopoServer", "my-etcd", replicas=1)
        self.make("Cell", "my-gateway", name="my-gateway", multiGateway={"replicas": 1}, **STANDING)
        self.make(
            "Shard",
            "my-shard",
            shardName="0-inf",
            databaseName="postgres",
            tableGroupName="default",
            multiorch={"replicas": 1, "cells": ["z1"]},
            pools={"default": {"type": "readWrite", "cells": ["z1"], "replicasPerCell": 1}},
            backup={"type": "s3", "s3": {"bucket": "b", "region": "r"}},
            **STANDING,
        )
        self.run_until_done(lambda: all(self.is_up(*each.split("/")) for each in GOING))

    def is_up(self, kind: str, name: str) -> bool:
        """Whether its pods are ready: without a cluster no data plane reports on Postgres."""
        if kind == "shard":
            status = self.get(kind, name).get("status") or {}
            return bool(status.get("poolsReady") and status.get("orchReady"))
        ready = self.condition("Ready", kind, name)
        return ready is not None and ready["status"] == "True"


def test_a_deletion_survives_a_crash_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    scenario = Standing(control_plane, kubectl, namespace)
    scenario.begin()
    workloads = {part for part in scenario.parts() if part.startswith(("deployments/", "statefulsets/"))}
    since = scenario.mark()
    kubectl("delete", *GOING, "-n", namespace, "--wait=false")
    assert scenario.crash_until(lambda: not scenario.parts()) >= 5
    assert scenario.made(since) == []
    assert scenario.deleted(since) == sorted(workloads)
    assert scenario.repeated(since) == []
