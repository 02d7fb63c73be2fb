import asyncio

import pytest

from steward.serving.fair_limit import FairLimit, LimitExceeded


async def let_tasks_run() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def queue(limit: FairLimit, *addresses: str) -> tuple[list[asyncio.Task[None]], list[str]]:
    """Tasks that wait for a slot, in this order, and the addresses in the order in which they got one."""
    served: list[str] = []

    async def take(address: str) -> None:
        await limit.take(address)
        served.append(address)

    tasks = []
    for address in addresses:
        tasks.append(asyncio.create_task(take(address)))
        await let_tasks_run()
    return tasks, served


async def release(limit: FairLimit, count: int) -> None:
    for _ in range(count):
        limit.release()
        await let_tasks_run()


async def test_addresses_take_turns() -> None:
    limit = FairLimit(1, waiting=10)
    _, served = await queue(limit, "a", "a", "a", "a", "b", "c")
    await release(limit, 5)
    assert served == ["a", "a", "b", "c", "a", "a"]


async def test_the_longest_queue_gives_way_to_an_address_that_waits_less() -> None:
    limit = FairLimit(1, waiting=3)
    tasks, served = await queue(limit, "a", "a", "a", "a", "b")
    dropped = [task for task in tasks if task.done() and task.exception()]
    await release(limit, 3)
    assert dropped == [tasks[3]]
    assert isinstance(tasks[3].exception(), LimitExceeded)
    assert served == ["a", "a", "b", "a"]


async def test_an_address_with_the_longest_queue_is_rejected() -> None:
    limit = FairLimit(1, waiting=2)
    await queue(limit, "a", "a", "b")
    with pytest.raises(LimitExceeded, match="2 wait"):
        await limit.take("a")
    assert limit.waiting == 2


async def test_without_places_to_wait_the_second_is_rejected() -> None:
    limit = FairLimit(1, waiting=0)
    await limit.take("a")
    with pytest.raises(LimitExceeded):
        await limit.take("b")


@pytest.mark.parametrize("is_granted", [False, True])
async def test_a_cancelled_wait_leaves_its_slot_to_others(is_granted: bool) -> None:
    limit = FairLimit(1, waiting=2)
    tasks, served = await queue(limit, "a", "b", "c")
    if is_granted:
        # The slot is given to b, and b is cancelled before it can run.
        limit.release()
    tasks[1].cancel()
    await let_tasks_run()
    if not is_granted:
        limit.release()
        await let_tasks_run()
    assert (served, limit.waiting) == (["a", "c"], 0)


async def test_a_slot_that_is_released_in_the_moment_of_a_cancellation_goes_to_the_next() -> None:
    limit = FairLimit(1, waiting=3)
    tasks, served = await queue(limit, "a", "b", "c")
    tasks[1].cancel()
    limit.release()
    await let_tasks_run()
    assert (served, limit.waiting) == (["a", "c"], 0)


async def test_a_block_gives_its_slot_back() -> None:
    limit = FairLimit(1, waiting=0)
    for _ in range(3):
        async with limit.acquire("a"):
            pass
    assert limit.waiting == 0
