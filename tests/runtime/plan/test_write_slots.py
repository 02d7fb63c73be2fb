import asyncio

import pytest

from steward.runtime.plan.write_slots import (
    CURRENT_SECONDS,
    FEWEST_CURRENT_WRITES,
    OLDEST_EVERY,
    RECENT_WRITES,
    SATURATED,
    ServerLoad,
    WriteSlots,
    current_priority,
    write_priority,
)
from steward.runtime.reconcile import Lane
from steward.testkit.clock import FakeClock, let_others_run

NEW_TREE = write_priority(Lane.FAST, 0)
LEAF = write_priority(Lane.FAST, 2)
URGENT_LEAF = write_priority(Lane.URGENT, 2)
SLOW_LEAF = write_priority(Lane.SLOW, 2)


class Writers:
    """Writers of one slot that hold it until `finish` is called."""

    def __init__(self) -> None:
        self.slots = WriteSlots(fewest=1, most=3)
        self.sent: list[object] = []
        self._may_finish = asyncio.Semaphore(0)

    async def add(self, name: object, priority: tuple[object, ...] = NEW_TREE) -> asyncio.Task[None]:
        current_priority.set(priority)  # type: ignore[arg-type]
        task = asyncio.create_task(self._write(name))
        await let_others_run()
        return task

    async def _write(self, name: object) -> None:
        async with self.slots:
            self.sent.append(name)
            await self._may_finish.acquire()

    async def finish(self, count: int = 1) -> None:
        for _ in range(count):
            self._may_finish.release()
            await let_others_run()


@pytest.fixture
def writers() -> Writers:
    return Writers()


async def test_a_begun_tree_is_written_before_the_next_one_is_begun(writers: Writers) -> None:
    for name, priority in (
        ("first", NEW_TREE),
        ("slow", SLOW_LEAF),
        ("second tree", NEW_TREE),
        ("leaf", LEAF),
        ("urgent leaf", URGENT_LEAF),
    ):
        await writers.add(name, priority)
    await writers.finish(5)
    assert writers.sent == ["first", "urgent leaf", "leaf", "second tree", "slow"]


async def test_writes_of_one_priority_keep_their_order(writers: Writers) -> None:
    for number in range(5):
        await writers.add(number)
    await writers.finish(5)
    assert writers.sent == [0, 1, 2, 3, 4]


async def test_a_write_of_low_priority_is_sent_while_others_keep_coming(writers: Writers) -> None:
    await writers.add("begin", LEAF)
    await writers.add("low", SLOW_LEAF)
    for number in range(2 * OLDEST_EVERY):
        await writers.add(number, LEAF)
    await writers.finish(OLDEST_EVERY)
    assert "low" in writers.sent


async def test_a_cancelled_write_gives_its_place_to_the_next_one(writers: Writers) -> None:
    await writers.add("first")
    cancelled = await writers.add("cancelled")
    await writers.add("next")
    cancelled.cancel()
    await writers.finish(2)
    assert writers.sent == ["first", "next"]


async def test_a_write_that_is_cancelled_as_it_gets_its_slot_releases_it(writers: Writers) -> None:
    async with writers.slots:
        cancelled = await writers.add("cancelled")
    cancelled.cancel()
    await let_others_run()
    await writers.add("next")
    assert writers.sent == ["next"]


async def test_a_server_that_answers_as_fast_as_ever_gets_more_writes_at_once(writers: Writers) -> None:
    for number in range(4):
        await writers.add(number)
    for _ in range(RECENT_WRITES):
        writers.slots.observe(0.005)
    await writers.finish()
    assert writers.sent == [0, 1, 2, 3]


async def test_a_busy_server_gets_few_writes_at_once(writers: Writers) -> None:
    writers.slots.observe(0.005)
    for _ in range(RECENT_WRITES):
        writers.slots.observe(0.05)
    for number in range(4):
        await writers.add(number)
    assert writers.sent == [0]


LOADS = {
    "unknown": ([0.005] * (RECENT_WRITES - 1), False),
    "as fast as ever": ([0.005] * RECENT_WRITES, True),
    "slower": ([0.005, *[0.009] * RECENT_WRITES], True),
    "busy": ([0.005, *[0.02] * RECENT_WRITES], False),
    "some writes delayed by a webhook": ([0.005, *[0.005, 10.0] * RECENT_WRITES], True),
    "no longer busy": ([0.005, *[0.02] * RECENT_WRITES, *[0.005] * RECENT_WRITES], True),
}


@pytest.mark.parametrize(("seconds", "has_room"), LOADS.values(), ids=LOADS)
def test_the_fastest_of_the_recent_writes_shows_whether_the_server_has_room(
    seconds: list[float], has_room: bool
) -> None:
    load = ServerLoad()
    for each in seconds:
        load.observe(each)
    assert load.has_room is has_room


async def test_a_slot_without_waiting_writes_is_free_again(writers: Writers) -> None:
    for number in range(3):
        await writers.add(number)
        await writers.finish()
    assert writers.sent == [0, 1, 2]


def loaded(*seconds: float) -> ServerLoad:
    load = ServerLoad()
    for each in seconds:
        load.observe(each)
    return load


def test_a_server_of_which_little_is_known_counts_as_saturated() -> None:
    assert loaded(*[0.01] * (RECENT_WRITES - 1)).slowdown == SATURATED


def test_a_server_that_answers_as_fast_as_ever_has_no_slowdown() -> None:
    assert loaded(*[0.01] * RECENT_WRITES).slowdown == 1.0


def test_a_server_on_which_writes_wait_is_slow_although_one_of_them_is_fast() -> None:
    assert loaded(*[0.01] * RECENT_WRITES, *[0.05] * (RECENT_WRITES - 1), 0.01).slowdown == 5.0


def test_a_webhook_that_delays_some_kinds_is_no_slowdown() -> None:
    delayed = RECENT_WRITES // 2
    assert loaded(*[0.01] * RECENT_WRITES, *[0.01] * delayed, *[0.2] * delayed).slowdown == 1.0


def test_writes_of_some_seconds_ago_do_not_say_that_the_server_is_slow() -> None:
    clock = FakeClock()
    load = ServerLoad(clock.monotonic)
    for seconds in (0.01, *[0.1] * RECENT_WRITES):
        load.observe(seconds)
    assert load.slowdown == 10.0
    clock.advance(CURRENT_SECONDS)
    assert load.slowdown == 1.0
    for _ in range(FEWEST_CURRENT_WRITES):
        load.observe(0.06)
    assert load.slowdown == 6.0
