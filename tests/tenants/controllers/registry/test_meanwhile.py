"""Work that takes its time is told of while it goes on, and ends as if nobody had."""

import asyncio

import pytest

from steward.tenants.controllers.registry.meanwhile import telling_meanwhile

SOON, NEVER = 0.001, 3600.0


async def test_it_is_told_while_the_work_goes_on() -> None:
    heard, ended = asyncio.Event(), []

    async def work() -> None:
        await heard.wait()
        ended.append("work")

    async def tell() -> None:
        heard.set()

    await telling_meanwhile(work(), tell, SOON)
    assert ended == ["work"]


async def test_short_work_is_not_told_of() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    async def tell() -> None:
        raise AssertionError

    await telling_meanwhile(work(), tell, NEVER)


async def test_it_fails_as_the_work_does() -> None:
    async def work() -> None:
        raise KeyError("rows")

    async def tell() -> None: ...

    with pytest.raises(KeyError, match="rows"):
        await telling_meanwhile(work(), tell, NEVER)


async def test_the_work_ends_when_nobody_waits_for_it_any_more() -> None:
    begun, ended = asyncio.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(NEVER)
        finally:
            ended.append("work")

    async def tell() -> None: ...

    waiting = asyncio.create_task(telling_meanwhile(work(), tell, NEVER))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["work"]
