import asyncio

import pytest

from steward.certificates.wall_clock_sleep import Woken, rest
from steward.testkit import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def news():
    return asyncio.Event()


async def test_a_rest_lasts_as_long_as_was_asked_for(clock, news):
    resting = asyncio.create_task(rest(clock, 3600, news))
    await clock.pass_time(3599)
    assert not resting.done()
    await clock.pass_time(1)
    assert await resting is Woken.IN_TIME


async def test_news_end_it(clock, news):
    resting = asyncio.create_task(rest(clock, 3600, news))
    await clock.until_asleep()
    news.set()
    assert await resting is Woken.BY_NEWS
    assert clock.sleepers == 0


@pytest.mark.parametrize("seconds", [3600, -3600])
async def test_a_wall_clock_that_was_set_ends_it_at_the_next_glance(clock, news, seconds):
    resting = asyncio.create_task(rest(clock, 86_400, news))
    await clock.pass_time(100)
    clock.jump(seconds)
    await clock.pass_time(30)
    assert await resting is Woken.BY_CLOCK


async def test_a_clock_that_is_nudged_does_not(clock, news):
    resting = asyncio.create_task(rest(clock, 3600, news))
    await clock.until_asleep()
    clock.jump(2)
    await clock.pass_time(60)
    assert not resting.done()
    resting.cancel()
