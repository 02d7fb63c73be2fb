"""The part of the Tenants that a process manages (`--shard`). Called a partition in code, because Shard is a kind."""

from typing import NamedTuple


class Partition(NamedTuple):
    """Partition `number` of `total`, counted from 0."""

    number: int = 0
    total: int = 1
