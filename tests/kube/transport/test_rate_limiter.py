import asyncio

import pytest

from steward.kube.transport.rate_limiter import RateLimiter
from steward.testkit.clock import FakeClock


def test_a_burst_passes_at_once_and_the_rest_at_the_rate() -> None:
    limiter = RateLimiter(qps=10, burst=3, clock=FakeClock())
    assert [limiter.reserve() for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])


def test_tokens_come_back_with_time_but_never_more_than_a_burst() -> None:
    clock = FakeClock()
    limiter = RateLimiter(qps=10, burst=2, clock=clock)
    for _ in range(2):
        limiter.reserve()
    clock.advance(3600)
    assert [limiter.reserve() for _ in range(3)] == pytest.approx([0, 0, 0.1])


def test_without_a_rate_there_is_no_wait() -> None:
    limiter = RateLimiter(qps=0, burst=0, clock=FakeClock())
    assert {limiter.reserve() for _ in range(1000)} == {0.0}


async def test_waiters_leave_in_the_order_in_which_they_came() -> None:
    clock = FakeClock()
    limiter = RateLimiter(qps=1, burst=1, clock=clock)
    left: list[int] = []

    async def wait(number: int) -> None:
        await limiter.wait()
        left.append(number)

    tasks = [asyncio.create_task(wait(number)) for number in range(4)]
    await clock.pass_time(2)
    assert left == [0, 1, 2]
    await clock.pass_time(1)
    assert left == [0, 1, 2, 3]
    await asyncio.gather(*tasks)
