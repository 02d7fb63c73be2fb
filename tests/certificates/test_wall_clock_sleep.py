import asyncio

import pytest

from steward.certificates.wall_clock_sleep import WakeReason, interruptible_sleep
from steward.testkit import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def interrupt():
    return asyncio.Event()


async def test_a_sleep_lasts_for_its_time(clock, interrupt):
    resting = asyncio.create_task(interruptible_sleep(clock, 3600, interrupt))
    await clock.pass_time(3599)
    assert not resting.done()
    await clock.pass_time(1)
    assert await resting is WakeReason.ELAPSED


async def test_the_event_ends_it(clock, interrupt):
    resting = asyncio.create_task(interruptible_sleep(clock, 3600, interrupt))
    await clock.until_asleep()
    interrupt.set()
    assert await resting is WakeReason.INTERRUPTED
    assert clock.sleepers == 0


@pytest.mark.parametrize("seconds", [3600, -3600])
async def test_a_wall_clock_that_was_set_ends_it_at_the_next_poll(clock, interrupt, seconds):
    resting = asyncio.create_task(interruptible_sleep(clock, 86_400, interrupt))
    await clock.pass_time(100)
    clock.jump(seconds)
    await clock.pass_time(30)
    assert await resting is WakeReason.CLOCK_CHANGED


async def test_a_small_clock_correction_does_not_end_it(clock, interrupt):
    resting = asyncio.create_task(interruptible_sleep(clock, 3600, interrupt))
    await clock.until_asleep()
    clock.jump(2)
    await clock.pass_time(60)
    assert not resting.done()
    resting.cancel()
