"""An operator that is killed at every write of a story, and the record of what all its lives did together.

Life after life: one is killed before its first write is sent, the next after its first write was committed and before
it hears of that, and so on until the story is over. Only reports (statuses and events) pass freely: each life begins
with its own.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import Calls, FaultProxy, Match, Moment, WriteMoment, kill, kill_at_write
from steward.testkit.audit import Audited
from steward.testkit.crash import start_process

MOST_LIVES = 60
PATIENCE = 300.0
CHANGES = r"/(tablegroups|shards|toposervers|statefulsets|persistentvolumeclaims|pods)/[^/]+(/eviction)?$"


async def killed_at_every_write(
    control_plane: ControlPlane, namespace: str, is_over: Callable[[], bool], **settings: str
) -> int:
    """How many lives it took, the last one not counted."""
    match = Match(write=True, namespace=namespace, path=CHANGES)
    environment = {
        "STEWARD_NAMESPACES": namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
        **{f"STEWARD_{name.upper()}": value for name, value in settings.items()},
    }
    command = [str(Path(sys.executable).parent / "steward"), "run", "multigres"]
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        for life in range(MOST_LIVES):
            process = await start_process(command, proxy, environment)
            try:
                at = WriteMoment(1, (Moment.BEFORE, Moment.AFTER)[life % 2], match)
                if not await kill_at_write(process, proxy, at, until=_over(is_over)):
                    assert await asyncio.to_thread(is_over), f"life {life} neither wrote nor saw the end"
                    return life
            finally:
                await kill(process)
    pytest.fail(f"the story was not over after {MOST_LIVES} lives")


async def _over(is_over: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(is_over):
            await asyncio.sleep(0.5)


def counted(calls: Calls, namespace: str, *resources: str) -> dict[str, list[str]]:
    """What the operator deleted or evicted, and what it or anybody else made."""
    done = [each for each in calls.writes() if each.call.namespace == namespace and each.code < 300]
    found: dict[str, list[str]] = {}
    for resource in resources:
        calls_of = [each for each in done if each.call.resource == resource]
        found[f"+ {resource}"] = [c.call.name for c in calls_of if not c.call.subresource and c.code == 201]
        found[f"- {resource}"] = [c.call.name for c in calls_of if _is_removal(c)]
    return found


def _is_removal(each: Audited) -> bool:
    is_ours = "multigres-operator" in each.call.user_agent
    return is_ours and (each.call.verb == "delete" or each.call.subresource == "eviction")
