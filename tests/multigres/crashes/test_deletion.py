"""The operator dies at every write of a deletion, and the end is the same: nothing left, nothing deleted twice.

A topology server and those who stand on it, made by hand and deleted at once, so that each waits for the other.
"""

from steward.local.control_plane import ControlPlane
from tests.multigres.integration.test_toposerver_deletion import TOPO
from tests.multigres.support.crash_story import CrashStory
from tests.multigres.support.process_lives import OF_LIVES
from tests.support.kubectl import Kubectl

GOING = "toposerver/my-etcd", "cell/my-gateway", "shard/my-shard"
STANDING = {"globalTopoServer": TOPO, "topoServerRef": {"name": "my-etcd"}}

pytestmark = OF_LIVES


class Standing(CrashStory):
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
        self.until(lambda: all(self.is_up(*each.split("/")) for each in GOING))

    def is_up(self, kind: str, name: str) -> bool:
        ready = self.condition("Ready", kind, name)
        return ready is not None and ready["status"] == "True"


def test_a_deletion_ends_the_same_however_often_the_operator_dies(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    story = Standing(control_plane, kubectl, namespace)
    story.begin()
    workloads = {part for part in story.parts() if part.startswith(("deployments/", "statefulsets/"))}
    since = story.mark()
    kubectl("delete", *GOING, "-n", namespace, "--wait=false")
    assert story.lives(lambda: not story.parts()) >= 2 * 5
    assert story.made(since) == []
    assert story.deleted(since) == sorted(workloads)
    assert story.repeated(since) == []
