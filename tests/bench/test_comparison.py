"""Rounds in which every candidate runs, each round beginning with another one."""

import asyncio

from bench.measuring.comparison import compare, rotated
from bench.measuring.concurrency import Cost, run_concurrently


def test_every_round_begins_with_another_candidate():
    assert [rotated(["a", "b", "c"], number)[0] for number in range(4)] == ["a", "b", "c", "a"]


async def test_the_warm_up_round_is_not_reported():
    ran: list[tuple[str, int]] = []

    async def one(number: int) -> Cost:
        ran.append(("one", number))
        return Cost(count=10 * number, seconds=1.0, cpu=0.5)

    async def other(number: int) -> Cost:
        ran.append(("other", number))
        return Cost(count=5, seconds=1.0, cpu=0.5)

    found = await compare({"one": one, "other": other}, rounds=2)
    assert [cost.count for cost in found["one"]] == [10, 20]
    assert ran == [("one", 0), ("other", 0), ("other", 1), ("one", 1), ("one", 2), ("other", 2)]


async def test_the_server_time_is_counted_for_each_candidate():
    spent = iter([0.0, 1.0, 4.0])

    async def work(_: int) -> Cost:
        return Cost(count=1000, seconds=1.0, cpu=0.5)

    found = await compare({"work": work}, rounds=1, server=lambda: next(spent))
    assert [cost.all_cpu_microseconds for cost in found["work"]] == [3500.0]


async def test_no_more_calls_than_the_depth_are_in_flight():
    now, most, done = 0, 0, []

    async def call(item: int) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        # Others get their turn before this one ends.
        await asyncio.sleep(0)
        now -= 1
        done.append(item)

    cost = await run_concurrently(4, call, range(20))
    assert (most, sorted(done), cost.count) == (4, list(range(20)), 20)
