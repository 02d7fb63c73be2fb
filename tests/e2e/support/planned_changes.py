"""Changes of a database cluster under a client that writes all the time.

The bar for a planned change: no write fails, none is lost, none takes over ten seconds.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.e2e.support.database_cluster import DatabaseCluster
from tests.e2e.support.writer import WriteCounts, counted_writes

LONGEST_SECONDS = 10.0
SETTLED = "the change to be carried out"
POOLS = "/spec/databases/0/tablegroups/0/shards/0/spec/pools"
Record = Callable[[str, object], None]


async def start(database: DatabaseCluster, pools: dict[str, Any], *cells: str) -> None:
    await asyncio.to_thread(database.apply, database.manifest(pools, cells))
    await database.wait_for(database.is_settled, "the cluster to be Healthy")


@asynccontextmanager
async def planned_change(
    database: DatabaseCluster, record: Record, lifetime_seconds: float = math.inf
) -> AsyncIterator[None]:
    """Writes all the time until the change is carried out, and for a moment after it."""
    async with counted_writes(database.endpoint(), lifetime_seconds) as counts:
        await enough_writes(counts)
        yield
        await database.wait_for(database.is_settled, SETTLED, limit=600)
        await enough_writes(counts)
    record("writes", counts.describe())
    print(counts.describe())
    assert not counts.failures, counts.failures[:5]
    assert not counts.lost
    assert counts.longest_seconds <= LONGEST_SECONDS, counts.describe()


async def enough_writes(counts: WriteCounts) -> None:
    """Waits until twenty more writes were acknowledged."""
    target = len(counts.acknowledged) + 20
    while len(counts.acknowledged) < target:
        await asyncio.sleep(0.05)
