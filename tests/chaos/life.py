"""Plays one story: performs its actions, ends all faults, and asks the oracles.

`LifeSubject` is what is alive: a cluster or a fleet. This module knows operators and faults, the subject knows objects.
"""

import asyncio
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from steward.testkit import AuditedCalls, CrashPoint, CrashTiming, FaultProxy, LogPosition
from tests.chaos import api_faults, oracles
from tests.chaos.audited_calls import rejected_calls
from tests.chaos.environment import Environment
from tests.chaos.namespace_api import RejectedCallError
from tests.chaos.operator_process import CHANGES, SupervisedOperator
from tests.chaos.story import (
    AnyAction,
    ApiFault,
    Kill,
    Pause,
    Recreate,
    Settle,
    Start,
    Stop,
    Story,
    Wait,
)
from tests.chaos.waiting import LifeFailedError

LIFE_SECONDS = 900.0
SETTLE_SECONDS = 30.0
HOLD_SECONDS = 3.0


class LifeSubject(Protocol):
    """A cluster or a fleet."""

    word: str
    namespaces: tuple[str, str]
    """That of the life, and that of the reference."""

    async def begin(self) -> None:
        """Create namespaces and the first state."""

    async def perform(self, action: AnyAction) -> None:
        """Perform an edit, or a fault of a server that belongs to the subject."""

    async def is_settled(self) -> bool:
        """Whether the operator reports success for the current state."""

    async def end_faults(self) -> None:
        """End the faults of the subject's own servers."""

    async def make_reference(self) -> None:
        """Create the final state from nothing, in the second namespace."""

    async def differences(self) -> list[str]:
        """How the state differs from the reference, or from what must remain after a deletion."""

    async def violations(self, calls: AuditedCalls) -> list[str]:
        """What else is wrong once the states are equal: lost, orphaned, false."""

    def secret_texts(self) -> list[str]:
        """Texts that may appear in no log, event, status, spec or metric."""

    async def close(self) -> None:
        """Release what it holds, and delete its workloads."""


@dataclass
class Outcome:
    """The result of one life."""

    story: Story
    failures: list[str]
    seconds: float
    processes: int
    peak_kib: int
    directory: Path
    """With the logs of its operators."""


class Life:
    def __init__(self, environment: Environment, subject: LifeSubject, operator: SupervisedOperator) -> None:
        self._environment = environment
        self._subject = subject
        self._operator = operator
        self._is_stopped = False
        self._releases: set[asyncio.Task[None]] = set()

    async def perform(self, action: AnyAction) -> None:
        if not self._is_stopped:
            await self._operator.ensure_running()
        match action:
            case Wait(seconds=seconds):
                await asyncio.sleep(seconds)
            case Settle() if not self._is_stopped:
                await self._settle()
            case Recreate():
                await self.perform(Start())
                await self._subject.perform(action)
            case Kill() if not self._is_stopped:
                await self._kill(action)
            case Pause() if not self._is_stopped:
                await self._operator.pause_beyond_lease()
            case Stop():
                self._is_stopped = True
                await self._operator.stop()
            case Start():
                self._is_stopped = False
                await self._operator.ensure_running()
            case ApiFault():
                self._inject(action)
            case _:
                await self._subject.perform(action)

    async def end_faults(self) -> None:
        for task in self._releases:
            task.cancel()
        self._operator.proxy.rules.clear()
        await self.perform(Start())
        await self._subject.end_faults()

    async def judge(self, since: LogPosition) -> list[str]:
        environment, subject, operator = self._environment, self._subject, self._operator
        found = await oracles.wait_until_equal(subject, operator, environment.quiet_seconds)
        calls = await environment.audit.calls_since(since)
        if not found:
            found = await oracles.wait_until_true(subject, calls)
            found += await oracles.writes_at_rest(environment.audit, subject, operator)
            # Two states can be equal while both still converge.
            found += [f"not equal any more: {line}" for line in await subject.differences()]
        if rejected := rejected_calls(calls, subject.namespaces):
            found.append(f"rejected by the API server: {rejected}")
        found += await oracles.leaks(subject, operator, environment.server)
        return found + oracles.process_problems(operator)

    def _inject(self, action: ApiFault) -> None:
        proxy = self._operator.proxy
        rule = api_faults.rule_for(action)
        entry = proxy.add(rule) if rule is not None else None
        if (watches := api_faults.cuts_watches(action)) is not None:
            proxy.cut(watches)
        if entry is not None and action.fault == "hold-watch":
            task = asyncio.create_task(self._release_later(entry.id))
            self._releases.add(task)

    async def _release_later(self, rule_id: int) -> None:
        await asyncio.sleep(HOLD_SECONDS)
        self._operator.proxy.rules.remove(rule_id)

    async def _settle(self) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline and not await self._subject.is_settled():
            await asyncio.sleep(0.5)

    async def _kill(self, action: Kill) -> None:
        timing = CrashTiming.AFTER if action.committed else CrashTiming.BEFORE
        match = replace(CHANGES, verb=action.verb, resource=action.resource)
        await self._operator.kill_at(CrashPoint(action.write, timing, match))
        self._is_stopped = action.stays_down
        if not self._is_stopped:
            await self._operator.ensure_running()


async def play(
    environment: Environment, story: Story, subject: LifeSubject, settings: dict[str, str]
) -> Outcome:
    """Play the story; an error of the driver itself is a failure of the life, too."""
    began = time.monotonic()
    directory = environment.directory / subject.namespaces[0]
    async with _operator(environment, story, subject, directory, settings) as operator:
        failures = await _failures(environment, story, subject, operator)
        memory = operator.peak_kib()
    if failures:
        environment.kept.add(directory)
    return Outcome(story, failures, time.monotonic() - began, len(operator.runs), memory, directory)


async def _failures(
    environment: Environment, story: Story, subject: LifeSubject, operator: SupervisedOperator
) -> list[str]:
    life = Life(environment, subject, operator)
    since = await environment.audit.mark()
    try:
        async with asyncio.timeout(LIFE_SECONDS):
            await subject.begin()
            for action in story.actions:
                await life.perform(action)
            async with operator.kept_running():
                await life.end_faults()
                return await life.judge(since)
    except (LifeFailedError, RejectedCallError) as error:
        return [str(error), *oracles.process_problems(operator)]
    except Exception:
        return [f"the life could not be played: {traceback.format_exc()}"]


@asynccontextmanager
async def _operator(
    environment: Environment, story: Story, subject: LifeSubject, directory: Path, settings: dict[str, str]
) -> AsyncIterator[SupervisedOperator]:
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(FaultProxy(environment.plane.kubeconfig))
        token = await environment.token(subject.word)
        operator = SupervisedOperator(
            subject.word, proxy, directory, subject.namespaces, token, settings, story.needs_election
        )
        stack.push_async_callback(subject.close)
        stack.push_async_callback(operator.stop)
        yield operator
