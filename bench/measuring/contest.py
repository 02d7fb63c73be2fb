"""Several ways to do the same, measured side by side.

All contestants run in every round, one after the other, and each round begins with another one: whatever else the
machine does hits all of them alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from bench.measuring.depth import Cost
from bench.measuring.report import progress

Contestants = Mapping[str, Callable[[int], Awaitable[Cost]]]
"""By name; given the number of the round, each does its work once."""


async def contest(
    contestants: Contestants, rounds: int, server: Callable[[], float] = lambda: 0.0
) -> dict[str, list[Cost]]:
    """The costs of every contestant, in the order of the rounds. A round before the first warms up and is not kept.

    `server` tells the processor time that the server has used so far.
    """
    kept: dict[str, list[Cost]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name in rotated(list(contestants), number):
            before = server()
            cost = await contestants[name](number)
            if number:
                kept[name].append(replace(cost, server_cpu=server() - before))
        if number:
            rates = ", ".join(f"{name} {costs[-1].rate:,.0f}/s" for name, costs in kept.items())
            progress(f"round {number} of {rounds}: {rates}")
    return kept


def rotated(names: Sequence[str], by: int) -> list[str]:
    place = by % len(names)
    return [*names[place:], *names[:place]]


def rates(costs: Sequence[Cost]) -> list[float]:
    return [cost.rate for cost in costs]


def all_cpu(costs: Sequence[Cost]) -> list[float]:
    return [cost.all_cpu_microseconds for cost in costs]


def cpu(costs: Sequence[Cost]) -> list[float]:
    return [cost.cpu_microseconds for cost in costs]
