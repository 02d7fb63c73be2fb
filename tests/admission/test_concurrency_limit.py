import asyncio

import pytest

from steward.admission.concurrency_limit import ReviewLimit
from steward.admission.errors import BusyError


async def hold(limit, inside, leave):
    async with limit.acquire("10.0.0.1"):
        inside.append(1)
        await leave.wait()


async def let_tasks_run():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_reviews_run_up_to_the_limit_wait_up_to_the_limit_and_the_rest_are_rejected():
    limit, inside, leave = ReviewLimit(concurrent=2, waiting=1), [], asyncio.Event()
    tasks = [asyncio.create_task(hold(limit, inside, leave)) for _ in range(3)]
    await let_tasks_run()
    assert len(inside) == 2
    with pytest.raises(BusyError, match="2 reviews are in progress and 1 wait"):
        async with limit.acquire("10.0.0.1"):
            pass
    leave.set()
    await asyncio.gather(*tasks)
    assert len(inside) == 3


async def test_a_cancelled_waiting_review_frees_its_slot():
    limit, inside, leave = ReviewLimit(concurrent=1, waiting=1), [], asyncio.Event()
    first, second = (asyncio.create_task(hold(limit, inside, leave)) for _ in range(2))
    await let_tasks_run()
    second.cancel()
    await let_tasks_run()
    third = asyncio.create_task(hold(limit, inside, leave))
    leave.set()
    await asyncio.gather(first, third)
    assert len(inside) == 2
