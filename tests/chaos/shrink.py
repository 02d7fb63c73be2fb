"""Shrinks a failing story to a short one by delta debugging, with a limit on the number of runs."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

Fails = Callable[[Sequence[T]], Awaitable[bool]]


@dataclass
class Shrinker(Generic[T]):
    """Removes parts of a list as long as what remains still fails. `runs` counts the attempts, at most `limit`."""

    fails: Fails[T]
    limit: int
    at_once: int = 1
    runs: int = 0

    async def shrink(self, items: Sequence[T]) -> list[T]:
        current, parts = list(items), 2
        while current and self.runs < self.limit:
            remaining = await self._without_a_part(current, min(parts, len(current)))
            if remaining is not None:
                current, parts = remaining, max(2, parts - 1)
            elif parts >= len(current):
                break
            else:
                parts *= 2
        return current

    async def _without_a_part(self, items: list[T], parts: int) -> list[T] | None:
        """The first shorter list that fails, tried in batches."""
        shorter = [_without(items, number, parts) for number in reversed(range(parts))]
        while shorter and self.runs < self.limit:
            size = min(self.at_once, self.limit - self.runs)
            batch, shorter = shorter[:size], shorter[size:]
            self.runs += len(batch)
            failed = await asyncio.gather(*map(self.fails, batch))
            for candidate, has_failed in zip(batch, failed, strict=True):
                if has_failed:
                    return candidate
        return None


def _without(items: list[T], number: int, parts: int) -> list[T]:
    start, end = len(items) * number // parts, len(items) * (number + 1) // parts
    return items[:start] + items[end:]
