"""One process for many askers, begun by the first and ended after the last."""

import asyncio
import os

import pytest

from steward.certificates.shared_worker_process import SharedNotary


async def wait_ended(notary: SharedNotary) -> None:
    async with asyncio.timeout(60):
        while notary._ending is not None or notary._child is not None:
            await asyncio.sleep(0.01)


async def test_askers_share_one_process():
    notary = SharedNotary()
    async with notary() as first, notary() as second:
        one, other = await asyncio.gather(first(os.getpid), second(os.getpid))
    async with notary() as later:
        again = await later(os.getpid)
    await notary.stop()
    assert one == other == again != os.getpid()


async def test_the_process_ends_when_nobody_asks_any_more_and_the_next_asker_gets_another():
    notary = SharedNotary(linger=0.0)
    async with notary() as decide:
        first = await decide(os.getpid)
    await wait_ended(notary)
    async with notary() as decide:
        second = await decide(os.getpid)
    await notary.stop()
    assert first != second


async def test_nothing_is_begun_before_somebody_asks():
    notary = SharedNotary()
    async with notary():
        assert notary._child is None
    await notary.stop()


async def test_an_error_arrives_as_itself_and_the_next_question_is_answered():
    notary = SharedNotary()
    async with notary() as decide:
        with pytest.raises(ValueError, match="invalid literal"):
            await decide(int, "no number")
        assert await decide(len, "abc") == 3
    await notary.stop()


async def test_an_asker_that_is_interrupted_leaves_its_answer_to_nobody():
    notary = SharedNotary()
    async with notary() as decide:
        assert await decide(len, "abc") == 3
        asking = asyncio.create_task(decide(sum, range(10_000_000)))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await decide(len, "ab") == 2
    await notary.stop()
