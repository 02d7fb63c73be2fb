import asyncio

import pytest

from steward.admission.concurrency_limit import Gate
from steward.admission.errors import BusyError


async def hold(gate, inside, leave):
    async with gate.enter():
        inside.append(1)
        await leave.wait()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_so_many_are_inside_so_many_wait_and_the_rest_are_told_to_come_again():
    gate, inside, leave = Gate(inside=2, waiting=1), [], asyncio.Event()
    tasks = [asyncio.create_task(hold(gate, inside, leave)) for _ in range(3)]
    await settle()
    assert len(inside) == 2
    with pytest.raises(BusyError, match="2 reviews are in progress and 1 wait"):
        async with gate.enter():
            pass
    leave.set()
    await asyncio.gather(*tasks)
    assert len(inside) == 3


async def test_one_who_gives_up_waiting_leaves_his_place_to_others():
    gate, inside, leave = Gate(inside=1, waiting=1), [], asyncio.Event()
    first, second = (asyncio.create_task(hold(gate, inside, leave)) for _ in range(2))
    await settle()
    second.cancel()
    await settle()
    third = asyncio.create_task(hold(gate, inside, leave))
    leave.set()
    await asyncio.gather(first, third)
    assert len(inside) == 2
