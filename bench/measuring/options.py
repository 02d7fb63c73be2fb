"""How large a run is. Every scenario takes the same flags, so that one command can shrink all of them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass

DEPTHS = (1, 4, 16, 64)


@dataclass(frozen=True)
class Options:
    objects: int
    rounds: int
    depths: tuple[int, ...] = DEPTHS
    seconds: float = 60.0
    sizes: tuple[int, ...] = ()
    """How many of what the scenario is about (clusters, tenants) are made at once, one after the other."""


def read_options(scenario: str, argv: Sequence[str], default: Options) -> Options:
    parser = ArgumentParser(prog=f"python -m bench {scenario}")
    parser.add_argument(
        "--objects", type=_at_least_one, default=default.objects, help="how many (%(default)s)"
    )
    parser.add_argument(
        "--rounds", type=_at_least_one, default=default.rounds, help="how often (%(default)s)"
    )
    parser.add_argument(
        "--depths", type=_numbers, default=default.depths, help="requests in flight, by comma (%(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=default.seconds, help="how long a rest is watched (%(default)s)"
    )
    parser.add_argument(
        "--sizes", type=_numbers, default=default.sizes, help="sizes of the fleet, by comma (%(default)s)"
    )
    given = parser.parse_args(argv)
    return Options(given.objects, given.rounds, given.depths, given.seconds, given.sizes)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_at_least_one(part) for part in text.split(","))
