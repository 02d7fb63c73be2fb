"""Compares several candidates that do the same work.

All candidates run in every round, one after the other, and each round begins with another one, so that other load on
the machine affects all of them alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from bench.measuring.concurrency import Cost
from bench.measuring.report import progress

Candidates = Mapping[str, Callable[[int], Awaitable[Cost]]]
"""By name; called with the number of the round, each does its work once."""


async def compare(
    candidates: Candidates, rounds: int, server: Callable[[], float] = lambda: 0.0
) -> dict[str, list[Cost]]:
    """The costs of every candidate, by round. A warm-up round comes first and is not reported.

    `server` returns the CPU time that the server has used so far.
    """
    kept: dict[str, list[Cost]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name in rotated(list(candidates), number):
            before = server()
            cost = await candidates[name](number)
            if number:
                kept[name].append(replace(cost, server_cpu=server() - before))
        if number:
            rates = ", ".join(f"{name} {costs[-1].rate:,.0f}/s" for name, costs in kept.items())
            progress(f"round {number} of {rounds}: {rates}")
    return kept


def rotated(names: Sequence[str], by: int) -> list[str]:
    first = by % len(names)
    return [*names[first:], *names[:first]]


def rates(costs: Sequence[Cost]) -> list[float]:
    return [cost.rate for cost in costs]


def all_cpu(costs: Sequence[Cost]) -> list[float]:
    return [cost.all_cpu_microseconds for cost in costs]


def cpu(costs: Sequence[Cost]) -> list[float]:
    return [cost.cpu_microseconds for cost in costs]
