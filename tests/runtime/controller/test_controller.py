from __future__ import annotations

import asyncio
import logging
import shlex
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from steward.kube.errors import Conflict, TooManyRequests
from steward.kube.objects.kinds import Key
from steward.runtime.controller.controller import (
    Controller,
    ControllerDependencies,
    ControllerError,
    ControllerLoop,
    slow_workers,
)
from steward.runtime.controller.predicates import Predicate, own_spec
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.observability.logging import JsonFormatter, current_reconcile
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.write_slots import current_priority
from steward.runtime.reconcile import DONE, Lane, RequeueAfter, Result
from steward.testkit.clock import FakeClock, let_others_run
from tests.cli.support.document_commands import log_commands
from tests.runtime.support.views import PARTS, THINGS, FilledCaches, key

Answer = Callable[[Key], Awaitable[Result]]


class Reconciler:
    """Records each key and returns the configured result."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.reconciled: list[str] = []
        self._answer = answer

    async def reconcile(self, key: Key) -> Result:
        self.reconciled.append(key.name)
        return DONE if self._answer is None else await self._answer(key)


class RunningLoop:
    """A controller loop with a fake clock."""

    def __init__(
        self,
        answer: Answer | None = None,
        workers: int = 2,
        urgent_workers: int = 0,
        when: Predicate = own_spec,
    ) -> None:
        self.caches = FilledCaches()
        self.clock = FakeClock()
        self.metrics = Metrics()
        self.reconciler = Reconciler(answer)
        controller = Controller(
            "thing",
            self.reconciler,
            (For(THINGS, when=when), Owns(PARTS)),
            workers,
            urgent_workers,
            resync_seconds=1000,
        )
        dependencies = ControllerDependencies(self.caches, self.metrics, self.clock, lambda: 0.0)  # type: ignore[arg-type]
        self.loop = ControllerLoop(controller, dependencies)

    def metric(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, {"controller": "thing", **labels})

    def results(self) -> dict[str, float]:
        name = "controller_runtime_reconcile_total"
        counts = {
            result: self.metric(name, result=result)
            for result in ("success", "error", "requeue", "requeue_after")
        }
        return {result: value for result, value in counts.items() if value}


@asynccontextmanager
async def running_loop(
    answer: Answer | None = None, workers: int = 2, urgent_workers: int = 0, when: Predicate = own_spec
) -> AsyncIterator[RunningLoop]:
    running = RunningLoop(answer, workers, urgent_workers, when)
    running.caches.add(THINGS, "a", 1)
    running.loop.start()
    await let_others_run()
    try:
        yield running
    finally:
        running.loop.stop_accepting()
        await running.loop.finish(grace=0)


async def test_every_existing_object_is_reconciled_at_the_start() -> None:
    async with running_loop() as running:
        assert running.reconciler.reconciled == ["a"]
        assert running.results() == {"success": 1}


async def test_an_unexpected_exception_concerns_one_key_and_is_logged_counted_and_retried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(key: Key) -> Result:
        if key.name == "a":
            raise ZeroDivisionError("no")
        return DONE

    with caplog.at_level(logging.ERROR):
        async with running_loop(answer) as running:
            running.caches.add(THINGS, "b", 2)
            await let_others_run()
            assert sorted(running.reconciler.reconciled) == ["a", "b"]
            assert running.results() == {"success": 1, "error": 1}
            assert running.metric("controller_runtime_reconcile_errors_total") == 1
            assert running.metric("controller_runtime_reconcile_panics_total") == 1
            assert len([record for record in caplog.records if record.exc_info]) == 1
            await running.clock.pass_time(0.006)
            assert running.reconciler.reconciled.count("a") == 2


async def test_an_api_error_is_logged_in_one_line_with_its_notes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(key: Key) -> Result:
        error = Conflict(409, "Conflict", "the object was modified")
        error.add_note("while applying Deployment shop/web for Thing shop/a")
        raise error

    with caplog.at_level(logging.ERROR):
        async with running_loop(answer) as running:
            assert running.metric("controller_runtime_reconcile_panics_total") == 0
    (record,) = caplog.records
    assert not record.exc_info
    assert "Conflict: the object was modified; while applying Deployment shop/web" in record.getMessage()
    line = JsonFormatter().format(record)
    searches = [search for _, search in log_commands() if "webhook" not in search]
    assert [search for search in searches if line not in _matching_lines(search, line)] == []
    assert len(searches) == 2


def _matching_lines(search: str, log: str) -> str:
    """Runs a command of the runbooks."""
    return subprocess.run(
        shlex.split(search), input=log, capture_output=True, text=True, check=False, timeout=60
    ).stdout


async def test_retry_after_of_the_server_is_respected() -> None:
    async def answer(key: Key) -> Result:
        error = TooManyRequests(429, "TooManyRequests", "later")
        error.retry_after = 30.0
        raise error

    async with running_loop(answer) as running:
        await running.clock.pass_time(29)
        assert running.reconciler.reconciled == ["a"]
        await running.clock.pass_time(2)
        assert running.reconciler.reconciled == ["a", "a"]


async def test_a_task_cancelled_inside_a_reconcile_does_not_end_its_worker() -> None:
    async def answer(key: Key) -> Result:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        never.cancel()
        await never
        return DONE

    async with running_loop(answer, workers=1) as running:
        assert running.results() == {"error": 1}
        await running.clock.pass_time(1)
        assert len(running.reconciler.reconciled) > 1


async def test_a_requeue_is_queued_after_its_delay_or_at_once_by_a_change() -> None:
    async def answer(key: Key) -> Result:
        return RequeueAfter(60.0)

    async with running_loop(answer) as running:
        running.caches.finish_list(THINGS)
        await running.clock.pass_time(61)
        assert running.reconciler.reconciled == ["a", "a"]
        running.caches.add(THINGS, "a", 2, metadata={"generation": 2})
        await let_others_run()
        assert running.reconciler.reconciled == ["a", "a", "a"]
        assert running.results() == {"requeue_after": 3}


async def test_an_invalid_result_is_an_error_of_its_key() -> None:
    async def answer(key: Key) -> Result:
        return RequeueAfter("soon")  # type: ignore[arg-type]

    async with running_loop(answer, workers=1) as running:
        await running.clock.pass_time(1)
        assert running.results()["error"] > 1


async def test_a_requeue_without_a_delay_uses_the_backoff() -> None:
    async def answer(key: Key) -> Result:
        return RequeueAfter(0.0)

    async with running_loop(answer) as running:
        await running.clock.pass_time(0.02)
        assert running.reconciler.reconciled == ["a", "a", "a"]
        assert running.results() == {"requeue": 3}


async def test_a_resync_enqueues_all_objects() -> None:
    async with running_loop() as running:
        await running.clock.pass_time(1001)
        assert running.reconciler.reconciled == ["a", "a"]


async def test_a_resync_leaves_out_what_a_controller_never_reconciles() -> None:
    async with running_loop(when=lambda change: change.key.name != "of-others") as running:
        running.caches.add(THINGS, "of-others", 2)
        await running.clock.pass_time(1001)
        assert running.reconciler.reconciled == ["a", "a"]


async def test_one_key_is_never_processed_twice_at_once_and_workers_limit_the_rest() -> None:
    at_once: list[str] = []
    most = 0
    gate = asyncio.Event()

    async def answer(key: Key) -> Result:
        nonlocal most
        assert key.name not in at_once
        at_once.append(key.name)
        most = max(most, len(at_once))
        await gate.wait()
        at_once.remove(key.name)
        return DONE

    async with running_loop(answer, workers=3) as running:
        running.caches.finish_list(THINGS)
        for number in range(10):
            running.caches.add(THINGS, f"n{number}", 10 + number)
            running.caches.add(THINGS, "a", 100 + number, metadata={"generation": number})
        await let_others_run()
        assert running.metric("controller_runtime_active_workers") == 3
        assert running.metric("controller_runtime_max_concurrent_reconciles") == 3
        gate.set()
        await let_others_run(100)
        assert most == 3
        assert running.reconciler.reconciled.count("a") == 2


async def test_urgent_workers_reconcile_urgent_keys_only() -> None:
    gate = asyncio.Event()

    async def answer(key: Key) -> Result:
        await gate.wait()
        return DONE

    async with running_loop(answer, workers=1, urgent_workers=1) as running:
        assert running.metric("controller_runtime_max_concurrent_reconciles") == 2
        running.loop.queue.add(Key("ns", "waits"))
        await let_others_run()
        assert running.reconciler.reconciled == ["a"]
        running.loop.queue.add(Key("ns", "urgent"), Lane.URGENT)
        await let_others_run()
        assert running.reconciler.reconciled == ["a", "urgent"]
        gate.set()
        await let_others_run()
        assert running.reconciler.reconciled == ["a", "urgent", "waits"]


@pytest.mark.parametrize(("workers", "at_once"), [(1, 1), (2, 1), (3, 2), (20, 10)])
def test_the_slow_lane_has_half_of_the_workers_and_never_none(workers: int, at_once: int) -> None:
    assert slow_workers(workers) == at_once


async def test_changes_are_processed_while_the_initial_list_still_is() -> None:
    gate = asyncio.Event()

    async def answer(key: Key) -> Result:
        if key.name != "new":
            await gate.wait()
        return DONE

    async with running_loop(answer, workers=4) as running:
        for number in range(10):
            running.caches.add(THINGS, f"n{number}", 10 + number)
        await let_others_run()
        running.caches.finish_list(THINGS)
        running.caches.add(THINGS, "new", 100)
        await let_others_run()
        assert running.reconciler.reconciled == ["a", "n0", "new"]
        gate.set()
        await let_others_run(100)
        assert len(running.reconciler.reconciled) == 12


async def test_writes_of_a_reconcile_have_the_priority_of_its_lane() -> None:
    lanes = []

    async def answer(key: Key) -> Result:
        lanes.append((key.name, current_priority.get().lane))
        return DONE

    async with running_loop(answer, workers=1) as running:
        running.caches.finish_list(THINGS)
        running.caches.add(THINGS, "b", 2)
        await let_others_run()
    assert lanes == [("a", Lane.SLOW), ("b", Lane.FAST)]


async def test_running_reconciles_finish_within_the_grace_period_and_none_is_started() -> None:
    gate = asyncio.Event()

    async def answer(key: Key) -> Result:
        await gate.wait()
        return DONE

    async with running_loop(answer, workers=1) as running:
        running.caches.add(THINGS, "b", 2)
        running.loop.stop_accepting()
        ending = asyncio.create_task(running.loop.finish(grace=60))
        await let_others_run()
        assert not ending.done()
        gate.set()
        await ending
        assert running.reconciler.reconciled == ["a"]
        assert running.results() == {"success": 1}


async def test_a_reconcile_that_exceeds_the_grace_period_is_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(key: Key) -> Result:
        await asyncio.Event().wait()
        return DONE

    async with running_loop(answer) as running:
        running.loop.stop_accepting()
        await running.loop.finish(grace=0)
        assert "did not end in time" in caplog.text
        assert running.results() == {}


async def test_a_loop_that_is_started_again_reconciles_every_object() -> None:
    async with running_loop() as running:
        running.loop.stop_accepting()
        await running.loop.finish(grace=1)
        running.loop.start()
        await let_others_run()
        running.caches.add(THINGS, "b", 2)
        await let_others_run()
        assert running.reconciler.reconciled == ["a", "a", "b"]


async def test_a_worker_knows_its_reconcile() -> None:
    reconciled: list[Any] = []

    async def answer(key: Key) -> Result:
        reconciled.append(current_reconcile.get())
        return DONE

    async with running_loop(answer):
        (work,) = reconciled
    assert (work.controller, work.kind, work.key) == ("thing", "Thing", key("a"))


async def test_a_worker_that_never_waits_lets_others_run() -> None:
    async with running_loop(workers=1) as running:
        for number in range(500):
            running.caches.add(THINGS, f"n{number}", 10 + number)
        for _ in range(3):
            await asyncio.sleep(0)
        assert 0 < len(running.reconciler.reconciled) < 500


@pytest.mark.parametrize("triggers", [(), (Owns(PARTS),), (For(THINGS), For(PARTS))])
def test_a_controller_has_exactly_one_for_trigger(triggers: tuple[Any, ...]) -> None:
    with pytest.raises(ControllerError, match="it needs exactly one"):
        _ = Controller("thing", Reconciler(), triggers).kind
