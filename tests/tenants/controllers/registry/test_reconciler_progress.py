"""Progress is reported while long work runs, and does not change how the work ends."""

import asyncio

import pytest

from steward.tenants.controllers.registry.reconciler import run_with_progress

SOON, NEVER = 0.001, 3600.0


async def test_progress_is_reported_while_the_work_runs() -> None:
    reported, ended = asyncio.Event(), []

    async def work() -> None:
        await reported.wait()
        ended.append("work")

    async def report() -> None:
        reported.set()

    await run_with_progress(work(), report, SOON)
    assert ended == ["work"]


async def test_short_work_is_not_reported() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    async def report() -> None:
        raise AssertionError

    await run_with_progress(work(), report, NEVER)


async def test_it_raises_the_error_of_the_work() -> None:
    async def work() -> None:
        raise KeyError("rows")

    async def report() -> None: ...

    with pytest.raises(KeyError, match="rows"):
        await run_with_progress(work(), report, NEVER)


async def test_the_work_is_cancelled_with_its_caller() -> None:
    begun, ended = asyncio.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(NEVER)
        finally:
            ended.append("work")

    async def report() -> None: ...

    waiting = asyncio.create_task(run_with_progress(work(), report, NEVER))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["work"]
