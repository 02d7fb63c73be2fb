import asyncio

import pytest

from steward.tenants.controllers.common.concurrency import gather_all


async def test_results_come_in_order() -> None:
    async def after(turns: int) -> int:
        for _ in range(turns):
            await asyncio.sleep(0)
        return turns

    assert await gather_all(after(turns) for turns in (5, 1, 3)) == [5, 1, 3]


async def test_an_error_waits_until_the_others_have_ended() -> None:
    ended = []

    async def fail() -> None:
        raise ValueError("first")

    async def work() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append(True)

    with pytest.raises(ValueError, match="first"):
        await gather_all([fail(), work()])
    assert ended == [True]
