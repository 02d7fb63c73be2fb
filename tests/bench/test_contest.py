"""Rounds in which every contestant runs, each round beginning with another one."""

from bench.measuring.contest import contest, rotated
from bench.measuring.depth import Cost, at_depth


def test_every_round_begins_with_another_contestant():
    assert [rotated(["a", "b", "c"], number)[0] for number in range(4)] == ["a", "b", "c", "a"]


async def test_the_round_that_warms_up_is_not_kept():
    ran: list[tuple[str, int]] = []

    async def one(number: int) -> Cost:
        ran.append(("one", number))
        return Cost(count=10 * number, seconds=1.0, cpu=0.5)

    async def other(number: int) -> Cost:
        ran.append(("other", number))
        return Cost(count=5, seconds=1.0, cpu=0.5)

    found = await contest({"one": one, "other": other}, rounds=2)
    assert [cost.count for cost in found["one"]] == [10, 20]
    assert ran == [("one", 0), ("other", 0), ("other", 1), ("one", 1), ("one", 2), ("other", 2)]


async def test_what_the_server_spent_is_told_apart_for_each_contestant():
    spent = iter([0.0, 1.0, 4.0])

    async def work(_: int) -> Cost:
        return Cost(count=1000, seconds=1.0, cpu=0.5)

    found = await contest({"work": work}, rounds=1, server=lambda: next(spent))
    assert [cost.all_cpu_microseconds for cost in found["work"]] == [3500.0]


async def test_so_many_calls_are_in_flight_and_no_more():
    now, most, done = 0, 0, []

    async def call(item: int) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        # Others get their turn before this one ends.
        await at_depth(1, _nothing, [0])
        now -= 1
        done.append(item)

    cost = await at_depth(4, call, range(20))
    assert (most, sorted(done), cost.count) == (4, list(range(20)), 20)


async def _nothing(_: int) -> None: ...
