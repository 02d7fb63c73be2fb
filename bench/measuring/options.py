"""The size of a run. All scenarios take the same flags, so that one command can make all of them smaller."""

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
    """Numbers of clusters or tenants to create at once, one size after the other."""
    processes: tuple[int, ...] = (1,)
    """Numbers of partitions of the tenants operator, one number after the other."""


def read_options(scenario: str, argv: Sequence[str], default: Options) -> Options:
    parser = ArgumentParser(prog=f"python -m bench {scenario}")
    parser.add_argument(
        "--objects", type=_at_least_one, default=default.objects, help="number of objects (%(default)s)"
    )
    parser.add_argument(
        "--rounds", type=_at_least_one, default=default.rounds, help="number of rounds (%(default)s)"
    )
    parser.add_argument(
        "--depths",
        type=_numbers,
        default=default.depths,
        help="requests in flight, comma-separated (%(default)s)",
    )
    parser.add_argument(
        "--seconds", type=float, default=default.seconds, help="length of the idle time (%(default)s)"
    )
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=default.sizes,
        help="sizes of the fleet, comma-separated (%(default)s)",
    )
    parser.add_argument(
        "--processes",
        type=_numbers,
        default=default.processes,
        help="numbers of partitions, comma-separated (%(default)s)",
    )
    given = parser.parse_args(argv)
    return Options(given.objects, given.rounds, given.depths, given.seconds, given.sizes, given.processes)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_at_least_one(part) for part in text.split(","))
