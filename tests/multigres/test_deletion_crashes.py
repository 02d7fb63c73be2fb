"""The operator dies at every write of a deletion, and the end is the same: nothing left, nothing deleted twice.

Killed just after its first write was committed, each life gets one write further than the last: a single story has a
crash at every write that it makes. Killed just before a write is sent, each life may send one more than the last, since
what is still under way when it dies may come to nothing.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import (
    Audited,
    AuditLog,
    FaultProxy,
    Match,
    Moment,
    WriteMoment,
    kill,
    kill_at_write,
    start_process,
)
from tests.kubectl import Kubectl
from tests.multigres.conftest import running_operator
from tests.multigres.test_toposerver_deletion import TOPO, Servers

# Events are a courtesy: they are not part of any story.
WRITES = Match(write=True, path="^(?!.*/events)")
GOING = "toposerver/my-etcd", "cell/my-gateway", "shard/my-shard"
MOST_LIVES = 60
DONE = 200
PATIENCE = 120.0
Dies = Callable[[int], WriteMoment]
"""Where the nth life of the operator ends."""


class Story(Servers):
    """A topology server with a gateway and a shard on it, all deleted at once."""

    def begin(self) -> None:
        self.server()
        self.gateway("my-gateway")
        pools = {"default": {"type": "readWrite", "cells": ["z1"], "replicasPerCell": 1}}
        self.make(
            "Shard",
            "my-shard",
            shardName="0-inf",
            databaseName="postgres",
            tableGroupName="default",
            globalTopoServer=TOPO,
            topoServerRef={"name": "my-etcd"},
            multiorch={"replicas": 1, "cells": ["z1"]},
            pools=pools,
            backup={"type": "s3", "s3": {"bucket": "b", "region": "r"}},
        )
        for kind, name in (each.split("/") for each in GOING):
            self.kubectl("wait", kind, name, "-n", self.namespace, "--for=condition=Ready", "--timeout=120s")

    def delete_all(self) -> None:
        self.kubectl("delete", *GOING, "-n", self.namespace, "--wait=false")

    def is_over(self) -> bool:
        left = self.kubectl.json("get", "toposerver,cell,shard,deploy,sts", "-n", self.namespace)["items"]
        return not left

    async def until_over(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await asyncio.to_thread(self.is_over):
                await asyncio.sleep(0.2)


def after_the_first(life: int) -> WriteMoment:
    return WriteMoment(1, Moment.AFTER, WRITES)


def before_one_more(life: int) -> WriteMoment:
    return WriteMoment(life, Moment.BEFORE, WRITES)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("dies", [after_the_first, before_one_more])
async def test_a_deletion_ends_the_same_however_often_the_operator_dies(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path, dies: Dies
) -> None:
    story = Story(kubectl, namespace)
    grace = {"default_graceful_shutdown_period": "1s"}
    with running_operator(control_plane, namespace, tmp_path / "first.log", **grace):
        await asyncio.to_thread(story.begin)
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    await asyncio.to_thread(story.delete_all)
    lives = await _live_and_die(control_plane, story, dies)
    calls = [item for item in await audit.calls_since(mark) if _is_ours(item, namespace)]
    assert not [item for item in calls if item.call.verb == "create"]
    deletes = [item for item in calls if item.call.verb == "delete"]
    done = Counter(_what(item) for item in deletes if item.code == DONE)
    assert set(done.values()) == {1}, "nothing is deleted twice"
    assert sorted(resource for resource, _ in {_what(item) for item in deletes}) == [
        "deployments",
        "deployments",
        "services",
        "services",
        "statefulsets",
        "statefulsets",
    ]
    assert 3 < lives < MOST_LIVES


def _is_ours(item: Audited, namespace: str) -> bool:
    """The server answers 504 to a client that died: nobody can tell from that whether the write was committed."""
    call = item.call
    told = call.namespace == namespace and "multigres-operator" in call.user_agent
    return told and call.resource != "events" and item.code in (DONE, 201, 504)


def _what(item: Audited) -> tuple[str, str]:
    return item.call.resource, item.call.name


async def _live_and_die(control_plane: ControlPlane, story: Story, dies: Dies) -> int:
    """How many lives it took."""
    environment = {
        "STEWARD_NAMESPACES": story.namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
        "STEWARD_WEBHOOKS": "off",
        "STEWARD_DEFAULT_GRACEFUL_SHUTDOWN_PERIOD": "1s",
        "STEWARD_LOG_LEVEL": "error",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    command = [str(Path(sys.executable).parent / "steward"), "run", "multigres"]
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        for life in range(1, MOST_LIVES):
            process = await start_process(command, proxy, environment)
            try:
                if not await kill_at_write(process, proxy, dies(life), until=story.until_over()):
                    assert await asyncio.to_thread(story.is_over)
                    return life
            finally:
                await kill(process)
    return MOST_LIVES
