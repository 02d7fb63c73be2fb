"""Runs an operator that crashes at every write of a scenario, again and again until the scenario is done.

Each operator process crashes at its first write: by turns before it is sent, and after it was committed but before the
process receives the response. Only statuses and events are not crash points: each process begins with its own. The
operator processes are simulated one after the other within the test; other tests kill real processes.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres.operator import NAME, set_up
from steward.runtime.manager.run import Operator
from steward.runtime.manager.settings import Settings, settings_from
from steward.testkit import AuditedCalls, CrashPoint, CrashTiming, Match
from steward.testkit.audit import AuditedCall
from steward.testkit.crash_in_process import run_until_crash
from tests.support import data_planes
from tests.support.crashes import no_logged_errors
from tests.support.identities import operator_kubeconfig

MAX_PROCESSES = 150
TIMEOUT_SECONDS = 240.0
POLL_SECONDS = 0.5
# Statuses and events report the work; they are not crash points.
CHANGES = r"^(?!.*/(events|status)(/|\?|$))"
OPERATORS = (Operator(NAME, set_up),)

IsDone = Callable[[], bool]


async def _settings(control_plane: ControlPlane, namespace: str, settings: Mapping[str, str]) -> Settings:
    connect_to = data_planes.connect_to(control_plane)
    kubeconfig = await asyncio.to_thread(operator_kubeconfig, MULTIGRES, control_plane)
    return settings_from(
        {},
        {
            "kubeconfig": str(kubeconfig),
            "namespaces": namespace,
            "leader_elect": "false",
            "metrics_bind_address": "0",
            "health_probe_bind_address": "0",
            "webhooks": "off",
            "connect_to": connect_to,
            **settings,
        },
    )


async def crash_at_every_write(
    control_plane: ControlPlane, namespace: str, is_done: IsDone, /, changes: str = CHANGES, **settings: str
) -> int:
    """Returns the number of writes after which it crashed. `changes` matches the paths of writes that crash it."""
    operator_settings = await _settings(control_plane, namespace, settings)
    match = Match(write=True, namespace=namespace, path=changes)
    timings = itertools.cycle(CrashTiming)
    crashes = Counter[CrashTiming]()
    with no_logged_errors():
        while crashes.total() < MAX_PROCESSES:
            at = CrashPoint(1, next(timings), match)
            if await run_until_crash(OPERATORS, operator_settings, at, until=poll_until(is_done)):
                return crashes[CrashTiming.AFTER]
            crashes[at.timing] += 1
    pytest.fail(f"the scenario was not done after {MAX_PROCESSES} crashes")


async def crash_after_write(control_plane: ControlPlane, namespace: str, nth: int, **settings: str) -> None:
    """Runs one operator that crashes after its nth write was committed."""
    operator_settings = await _settings(control_plane, namespace, settings)
    at = CrashPoint(nth, CrashTiming.AFTER, Match(write=True, namespace=namespace, path=CHANGES))
    with no_logged_errors():
        await run_until_crash(OPERATORS, operator_settings, at, until=poll_until(lambda: False))


async def run_until(control_plane: ControlPlane, namespace: str, is_done: IsDone, **settings: str) -> None:
    """Runs one operator without a crash until the scenario is done."""
    operator_settings = await _settings(control_plane, namespace, settings)
    with no_logged_errors():
        await run_until_crash(OPERATORS, operator_settings, None, until=poll_until(is_done))


async def poll_until(is_done: IsDone) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            # Sleep first: most operators crash before the first poll.
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(is_done):
                return


def count_writes(calls: AuditedCalls, namespace: str, *resources: str) -> dict[str, list[str]]:
    """Objects that the operator deleted or evicted (`-`), and that any client created (`+`), by resource."""
    done = [each for each in calls.writes() if each.call.namespace == namespace and each.code < 300]
    found: dict[str, list[str]] = {}
    for resource in resources:
        calls_of = [each for each in done if each.call.resource == resource]
        found[f"+ {resource}"] = [c.call.name for c in calls_of if not c.call.subresource and c.code == 201]
        found[f"- {resource}"] = [c.call.name for c in calls_of if _is_removal(c)]
    return found


def _is_removal(each: AuditedCall) -> bool:
    is_ours = "multigres-operator" in each.call.user_agent
    return is_ours and (each.call.verb == "delete" or each.call.subresource == "eviction")
