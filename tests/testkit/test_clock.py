import asyncio

import pytest

from steward.testkit import FakeClock


def test_advance_moves_both_times_and_jump_only_the_wall_clock():
    clock = FakeClock(now=100.0, monotonic=5.0)
    clock.advance(2.5)
    clock.jump(-50)
    assert (clock.now(), clock.monotonic()) == (52.5, 7.5)


def test_advance_rejects_negative_times():
    with pytest.raises(ValueError, match="use jump"):
        FakeClock().advance(-1)


async def test_a_sleeper_wakes_at_its_deadline():
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(10))
    await clock.until_asleep()
    await clock.pass_time(9.999)
    assert not task.done()
    await clock.pass_time(0.001)
    assert task.done()


async def test_pass_time_runs_a_loop_as_often_as_it_sleeps():
    clock = FakeClock(now=0.0)
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await clock.sleep(1)
            ticks.append(clock.now())

    task = asyncio.create_task(tick())
    await clock.pass_time(4.5)
    task.cancel()
    assert ticks == [1.0, 2.0, 3.0, 4.0]
    assert clock.now() == 4.5


async def test_sleepers_wake_in_the_order_of_their_deadlines():
    clock = FakeClock()
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    tasks = [asyncio.create_task(sleeper(name, s)) for name, s in (("late", 3), ("early", 1), ("middle", 2))]
    await clock.until_asleep(3)
    assert clock.next_wake == 1
    await clock.pass_time(10)
    await asyncio.gather(*tasks)
    assert woken == ["early", "middle", "late"]


async def test_a_cancelled_sleeper_is_dropped():
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(5))
    await clock.until_asleep()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert clock.sleepers == 0
    assert clock.next_wake is None
    clock.advance(10)


async def test_a_sleep_of_zero_seconds_ends_at_once():
    clock = FakeClock()
    await asyncio.wait_for(clock.sleep(0), timeout=5)
    assert clock.sleepers == 0
