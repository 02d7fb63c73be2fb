"""The operator is killed at every write of a template update, and its next life brings the story to the same end."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.update_notices import APPLY_NOW
from steward.testkit import FaultProxy, Match, Moment, WriteMoment, kill, kill_at_write, start_process
from tests.kubectl import Kubectl
from tests.multigres.update_story import Story

# The record, the Cell and the annotation, with statuses between them; later writes only report progress.
WRITES = 7
MANUAL = {"templateChanges": "Manual"}
# What the story writes: the record, the Cell, the annotation and the cluster's status.
OF_THE_STORY = Match(write=True, path=r"/(controllerrevisions|cells|multigresclusters)/[^/]+(/status)?(\?|$)")


@asynccontextmanager
async def operator(proxy: FaultProxy, namespace: str) -> AsyncIterator[asyncio.subprocess.Process]:
    settings = {
        "STEWARD_NAMESPACES": namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
    }
    command = [str(Path(sys.executable).parent / "steward"), "run", "multigres"]
    process = await start_process(command, proxy, settings)
    try:
        yield process
    finally:
        await kill(process)


@pytest.mark.parametrize("moment", list(Moment))
async def test_a_kill_at_any_write_of_an_update_is_made_good(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, moment: Moment
) -> None:
    story = Story(kubectl, namespace)
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        async with operator(proxy, namespace):
            await asyncio.to_thread(story.begin, MANUAL)
            await asyncio.to_thread(story.until_gateways, 0)
            await asyncio.to_thread(_settled, story, 1)
        tried = 0
        for nth in range(1, WRITES + 1):
            replicas, generation = nth, nth + 1
            await asyncio.to_thread(story.gateways, replicas)
            await asyncio.to_thread(story.annotate, f"{APPLY_NOW}=true")
            end = asyncio.ensure_future(asyncio.to_thread(_ended, story, replicas, generation))
            async with operator(proxy, namespace) as first:
                killed = await kill_at_write(
                    first, proxy, WriteMoment(nth, moment, OF_THE_STORY), until=asyncio.shield(end)
                )
            if not killed:
                break
            tried = nth
            async with operator(proxy, namespace):
                await end
            # The same number of creates, however often it was killed: one for each content.
            assert [each["data"]["generation"] for each in story.revisions()][-1] == generation
            assert len(story.revisions()) == min(generation, 10)
    assert tried >= 3


def _settled(story: Story, generation: int) -> None:
    story.until_generation(generation)
    story.until_generation(1, "ShardTemplate/std")


def _ended(story: Story, replicas: int, generation: int) -> None:
    story.until_gateways(replicas)
    story.until_generation(generation)
    story.until_unasked()
