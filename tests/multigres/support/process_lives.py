"""An operator that is killed at every write of a story, and the record of what all its lives did together.

Life after life: one is killed before its first write is sent, the next after its first write was committed and before
it hears of that, and so on until the story is over. Only reports (statuses and events) pass freely: each life begins
with its own. The lives follow each other in this process; that a process can be killed as well is shown elsewhere.
"""

import asyncio
import gc
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres.operator import NAME, set_up
from steward.runtime.manager.run import Operator
from steward.runtime.manager.settings import Settings, settings_from
from steward.testkit import Calls, Match, Moment, WriteMoment
from steward.testkit.audit import Audited
from steward.testkit.crash_in_process import live
from tests.support.identities import kubeconfig_of

MOST_LIVES = 150
PATIENCE = 240.0
LOOK_SECONDS = 0.5
# Reports and events say what was done; they are not part of it.
CHANGES = r"^(?!.*/(events|status)(/|\?|$))"
OPERATORS = (Operator(NAME, set_up),)

OF_LIVES = [
    pytest.mark.timeout(1800),
    # A life that is cut off may leave a socket or a coroutine behind, as a killed process does: the collector takes it.
    pytest.mark.filterwarnings(
        r"ignore:Exception ignored in. <(function _(Selector|SSLProtocol)Transport.__del__|socket.socket|coroutine)"
        ":pytest.PytestUnraisableExceptionWarning"
    ),
]
"""How tests with many lives are marked."""

IsOver = Callable[[], bool]


async def _settings(control_plane: ControlPlane, namespace: str, settings: Mapping[str, str]) -> Settings:
    kubeconfig = await asyncio.to_thread(kubeconfig_of, MULTIGRES, control_plane)
    return settings_from(
        {},
        {
            "kubeconfig": str(kubeconfig),
            "namespaces": namespace,
            "leader_elect": "false",
            "metrics_bind_address": "0",
            "health_probe_bind_address": "0",
            "webhooks": "off",
            **settings,
        },
    )


async def killed_at_every_write(
    control_plane: ControlPlane, namespace: str, is_over: IsOver, /, changes: str = CHANGES, **settings: str
) -> int:
    """How many lives it took, the last one not counted. `changes` are the paths whose writes make up the story."""
    wanted = await _settings(control_plane, namespace, settings)
    match = Match(write=True, namespace=namespace, path=changes)
    moments = itertools.cycle(Moment)
    with no_faults():
        for life in range(MOST_LIVES):
            at = WriteMoment(1, next(moments), match)
            if await live(OPERATORS, wanted, at, until=over(is_over)):
                return life
    pytest.fail(f"the story was not over after {MOST_LIVES} lives")


async def lived(control_plane: ControlPlane, namespace: str, is_over: IsOver, **settings: str) -> None:
    """One life that nobody ends before the story does."""
    wanted = await _settings(control_plane, namespace, settings)
    with no_faults():
        await live(OPERATORS, wanted, None, until=over(is_over))


async def over(is_over: IsOver) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            # At first: most lives are too short to be asked.
            await asyncio.sleep(LOOK_SECONDS)
            if await asyncio.to_thread(is_over):
                return


class _Faults(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.found.append(logging.Formatter().format(record))


@contextmanager
def no_faults() -> Iterator[None]:
    """What a life logs with a traceback is a fault of Steward itself."""
    faults = _Faults()
    logging.getLogger("steward").addHandler(faults)
    try:
        yield
    finally:
        logging.getLogger("steward").removeHandler(faults)
        gc.collect()  # what a life left behind is found here, and not in the middle of somebody else's test
    assert not faults.found, "\n".join(faults.found)


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
