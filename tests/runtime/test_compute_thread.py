"""Long computations run beside the event loop."""

import asyncio
import threading
import time

import pytest

from steward.runtime.compute_thread import compute


def count_for(seconds: float) -> float:
    """Keeps the interpreter busy without a system call, as a pure computation does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return seconds


async def test_the_event_loop_has_its_turn_during_a_long_computation() -> None:
    work = asyncio.create_task(compute(lambda: count_for(1.0)))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.005)
        turns += 1
    assert turns > 10


async def test_computations_do_not_run_at_the_same_time() -> None:
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        running.append(threading.get_ident())
        most.append(len(running))
        time.sleep(0.01)
        running.pop()

    await asyncio.gather(*(compute(work) for _ in range(5)))
    assert max(most) == 1


async def test_a_computation_that_is_not_awaited_any_more_does_not_start() -> None:
    begin, started = threading.Event(), threading.Event()
    first = asyncio.create_task(compute(lambda: begin.wait(10)))
    second = asyncio.create_task(compute(started.set))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    begin.set()
    await first
    await compute(lambda: None)
    assert not started.is_set()


async def test_an_error_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        await compute(lambda: 1 // 0)
