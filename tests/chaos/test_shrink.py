"""Shrinking of failing stories."""

import asyncio
from collections.abc import Sequence

from tests.chaos.shrink import Shrinker


def _shrinker(*needed: int, limit: int = 1000) -> Shrinker[int]:
    async def fails(items: Sequence[int]) -> bool:
        return set(needed) <= set(items)

    return Shrinker(fails, limit)


async def test_only_the_cause_remains() -> None:
    assert await _shrinker(13).shrink(range(40)) == [13]


async def test_all_parts_of_a_cause_remain_in_their_order() -> None:
    assert await _shrinker(3, 17, 38).shrink(range(40)) == [3, 17, 38]


async def test_a_failure_without_a_cause_in_the_story_shrinks_to_nothing() -> None:
    assert await _shrinker().shrink(range(8)) == []


async def test_the_number_of_runs_is_limited() -> None:
    shrinker = _shrinker(3, 17, 38, limit=5)
    found = await shrinker.shrink(range(40))
    assert shrinker.runs == 5
    assert {3, 17, 38} <= set(found)


async def test_a_story_that_fails_only_as_a_whole_is_returned_whole() -> None:
    assert await _shrinker(*range(6)).shrink(range(6)) == list(range(6))


async def test_several_parts_are_tried_at_once() -> None:
    running, most = 0, 0

    async def fails(items: Sequence[int]) -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return {3, 17} <= set(items)

    shrinker = Shrinker(fails, limit=1000, at_once=3)
    assert await shrinker.shrink(range(40)) == [3, 17]
    assert most == 3
