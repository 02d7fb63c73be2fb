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
    ControllerError,
    ControllerLoop,
    Surroundings,
    slow_workers,
)
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.controller.workqueue import Lane
from steward.runtime.observability.logging import JsonFormatter, work_in_hand
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.lanes import lane_in_hand
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.testkit.clock import FakeClock, let_others_run
from tests.cli.support.document_commands import about_the_logs
from tests.runtime.support.views import PARTS, THINGS, FilledCaches, key

Answer = Callable[[Key], Awaitable[Result]]


class Reconciler:
    """Notes each key and answers as told."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.seen: list[str] = []
        self._answer = answer

    async def reconcile(self, key: Key) -> Result:
        self.seen.append(key.name)
        return DONE if self._answer is None else await self._answer(key)


class Wheel:
    """A controller loop on a clock that stands still."""

    def __init__(self, answer: Answer | None = None, workers: int = 2) -> None:
        self.caches = FilledCaches()
        self.clock = FakeClock()
        self.metrics = Metrics()
        self.reconciler = Reconciler(answer)
        controller = Controller(
            "thing", self.reconciler, (For(THINGS), Owns(PARTS)), workers, resync_seconds=1000
        )
        around = Surroundings(self.caches, self.metrics, self.clock, lambda: 0.0)  # type: ignore[arg-type]
        self.loop = ControllerLoop(controller, around)

    def figure(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, {"controller": "thing", **labels})

    def results(self) -> dict[str, float]:
        name = "controller_runtime_reconcile_total"
        found = {
            result: self.figure(name, result=result)
            for result in ("success", "error", "requeue", "requeue_after")
        }
        return {result: value for result, value in found.items() if value}


@asynccontextmanager
async def turning(answer: Answer | None = None, workers: int = 2) -> AsyncIterator[Wheel]:
    wheel = Wheel(answer, workers)
    wheel.caches.put(THINGS, "a", 1)
    wheel.loop.start()
    await let_others_run()
    try:
        yield wheel
    finally:
        wheel.loop.stop_taking()
        await wheel.loop.finish(grace=0)


async def test_every_object_that_is_there_is_reconciled_at_the_start() -> None:
    async with turning() as wheel:
        assert wheel.reconciler.seen == ["a"]
        assert wheel.results() == {"success": 1}


async def test_a_panic_is_an_error_of_one_key_logged_once_counted_and_backed_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(key: Key) -> Result:
        if key.name == "a":
            raise ZeroDivisionError("no")
        return DONE

    with caplog.at_level(logging.ERROR):
        async with turning(answer) as wheel:
            wheel.caches.put(THINGS, "b", 2)
            await let_others_run()
            assert sorted(wheel.reconciler.seen) == ["a", "b"]
            assert wheel.results() == {"success": 1, "error": 1}
            assert wheel.figure("controller_runtime_reconcile_errors_total") == 1
            assert wheel.figure("controller_runtime_reconcile_panics_total") == 1
            assert len([record for record in caplog.records if record.exc_info]) == 1
            await wheel.clock.pass_time(0.006)
            assert wheel.reconciler.seen.count("a") == 2


async def test_an_error_of_the_server_is_told_in_one_sentence_with_its_notes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(key: Key) -> Result:
        error = Conflict(409, "Conflict", "the object was modified")
        error.add_note("while applying Deployment shop/web for Thing shop/a")
        raise error

    with caplog.at_level(logging.ERROR):
        async with turning(answer) as wheel:
            assert wheel.figure("controller_runtime_reconcile_panics_total") == 0
    (record,) = caplog.records
    assert not record.exc_info
    assert "Conflict: the object was modified; while applying Deployment shop/web" in record.getMessage()
    line = JsonFormatter().format(record)
    searches = [search for _, search in about_the_logs() if "webhook" not in search]
    assert [search for search in searches if line not in _found(search, line)] == []
    assert len(searches) == 2


def _found(search: str, log: str) -> str:
    """By a command of the runbooks."""
    return subprocess.run(
        shlex.split(search), input=log, capture_output=True, text=True, check=False, timeout=60
    ).stdout


async def test_the_server_s_wish_to_be_left_alone_is_respected() -> None:
    async def answer(key: Key) -> Result:
        error = TooManyRequests(429, "TooManyRequests", "later")
        error.retry_after = 30.0
        raise error

    async with turning(answer) as wheel:
        await wheel.clock.pass_time(29)
        assert wheel.reconciler.seen == ["a"]
        await wheel.clock.pass_time(2)
        assert wheel.reconciler.seen == ["a", "a"]


async def test_something_cancelled_inside_a_reconcile_does_not_end_its_worker() -> None:
    async def answer(key: Key) -> Result:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        never.cancel()
        await never
        return DONE

    async with turning(answer, workers=1) as wheel:
        assert wheel.results() == {"error": 1}
        await wheel.clock.pass_time(1)
        assert len(wheel.reconciler.seen) > 1


async def test_a_requeue_comes_back_after_its_time_and_a_change_preempts_it() -> None:
    async def answer(key: Key) -> Result:
        return RequeueAfter(60.0)

    async with turning(answer) as wheel:
        wheel.caches.synced(THINGS)
        await wheel.clock.pass_time(61)
        assert wheel.reconciler.seen == ["a", "a"]
        wheel.caches.put(THINGS, "a", 2, metadata={"generation": 2})
        await let_others_run()
        assert wheel.reconciler.seen == ["a", "a", "a"]
        assert wheel.results() == {"requeue_after": 3}


async def test_an_answer_that_makes_no_sense_is_an_error_of_its_key() -> None:
    async def answer(key: Key) -> Result:
        return RequeueAfter("soon")  # type: ignore[arg-type]

    async with turning(answer, workers=1) as wheel:
        await wheel.clock.pass_time(1)
        assert wheel.results()["error"] > 1


async def test_a_requeue_without_a_time_comes_back_at_the_back_off_s_pace() -> None:
    async def answer(key: Key) -> Result:
        return RequeueAfter(0.0)

    async with turning(answer) as wheel:
        await wheel.clock.pass_time(0.02)
        assert wheel.reconciler.seen == ["a", "a", "a"]
        assert wheel.results() == {"requeue": 3}


async def test_all_objects_are_looked_at_again_once_in_a_long_while() -> None:
    async with turning() as wheel:
        await wheel.clock.pass_time(1001)
        assert wheel.reconciler.seen == ["a", "a"]


async def test_one_key_is_never_in_two_hands_and_workers_bound_the_rest() -> None:
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

    async with turning(answer, workers=3) as wheel:
        wheel.caches.synced(THINGS)
        for number in range(10):
            wheel.caches.put(THINGS, f"n{number}", 10 + number)
            wheel.caches.put(THINGS, "a", 100 + number, metadata={"generation": number})
        await let_others_run()
        assert wheel.figure("controller_runtime_active_workers") == 3
        assert wheel.figure("controller_runtime_max_concurrent_reconciles") == 3
        gate.set()
        await let_others_run(100)
        assert most == 3
        assert wheel.reconciler.seen.count("a") == 2


@pytest.mark.parametrize(("workers", "at_once"), [(1, 1), (2, 1), (3, 2), (20, 10)])
def test_the_slow_lane_has_half_of_the_workers_and_never_none(workers: int, at_once: int) -> None:
    assert slow_workers(workers) == at_once


async def test_news_are_served_while_the_first_list_is_still_in_hand() -> None:
    gate = asyncio.Event()

    async def answer(key: Key) -> Result:
        if key.name != "new":
            await gate.wait()
        return DONE

    async with turning(answer, workers=4) as wheel:
        for number in range(10):
            wheel.caches.put(THINGS, f"n{number}", 10 + number)
        await let_others_run()
        wheel.caches.synced(THINGS)
        wheel.caches.put(THINGS, "new", 100)
        await let_others_run()
        assert wheel.reconciler.seen == ["a", "n0", "new"]
        gate.set()
        await let_others_run(100)
        assert len(wheel.reconciler.seen) == 12


async def test_a_worker_knows_the_lane_of_what_it_has_in_hand() -> None:
    lanes = []

    async def answer(key: Key) -> Result:
        lanes.append((key.name, lane_in_hand.get()))
        return DONE

    async with turning(answer, workers=1) as wheel:
        wheel.caches.synced(THINGS)
        wheel.caches.put(THINGS, "b", 2)
        await let_others_run()
    assert lanes == [("a", Lane.SLOW), ("b", Lane.FAST)]


async def test_what_is_in_hand_ends_within_the_grace_and_nothing_else_is_begun() -> None:
    gate = asyncio.Event()

    async def answer(key: Key) -> Result:
        await gate.wait()
        return DONE

    async with turning(answer, workers=1) as wheel:
        wheel.caches.put(THINGS, "b", 2)
        wheel.loop.stop_taking()
        ending = asyncio.create_task(wheel.loop.finish(grace=60))
        await let_others_run()
        assert not ending.done()
        gate.set()
        await ending
        assert wheel.reconciler.seen == ["a"]
        assert wheel.results() == {"success": 1}


async def test_what_does_not_end_within_the_grace_is_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(key: Key) -> Result:
        await asyncio.Event().wait()
        return DONE

    async with turning(answer) as wheel:
        wheel.loop.stop_taking()
        await wheel.loop.finish(grace=0)
        assert "did not end in time" in caplog.text
        assert wheel.results() == {}


async def test_a_loop_that_is_started_again_begins_with_every_object() -> None:
    async with turning() as wheel:
        wheel.loop.stop_taking()
        await wheel.loop.finish(grace=1)
        wheel.loop.start()
        await let_others_run()
        wheel.caches.put(THINGS, "b", 2)
        await let_others_run()
        assert wheel.reconciler.seen == ["a", "a", "b"]


async def test_a_worker_knows_what_it_has_in_hand() -> None:
    seen: list[Any] = []

    async def answer(key: Key) -> Result:
        seen.append(work_in_hand.get())
        return DONE

    async with turning(answer):
        (work,) = seen
    assert (work.controller, work.kind, work.key) == ("thing", "Thing", key("a"))


async def test_a_worker_that_never_waits_lets_others_run() -> None:
    async with turning(workers=1) as wheel:
        for number in range(500):
            wheel.caches.put(THINGS, f"n{number}", 10 + number)
        for _ in range(3):
            await asyncio.sleep(0)
        assert 0 < len(wheel.reconciler.seen) < 500


@pytest.mark.parametrize("triggers", [(), (Owns(PARTS),), (For(THINGS), For(PARTS))])
def test_a_controller_is_about_exactly_one_kind(triggers: tuple[Any, ...]) -> None:
    with pytest.raises(ControllerError, match="it needs exactly one"):
        _ = Controller("thing", Reconciler(), triggers).kind
