"""A bare watch that runs during a measurement; its lines are read and dropped.

A client with a cache of the objects that it writes causes the server to encode and send every write again. A floor
without a watch does not have this cost, so the engine is compared with both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.measuring.plane import BenchContext

LABEL = {"bench": "watched"}


@asynccontextmanager
async def background_watch(context: BenchContext) -> AsyncIterator[None]:
    """Watch ConfigMaps with the label."""
    reading = asyncio.create_task(_read_all(context))
    try:
        yield
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read_all(context: BenchContext) -> None:
    path = f"/api/v1/namespaces/{context.namespace}/configmaps?watch=1&labelSelector=bench%3Dwatched"
    async with context.bare.lines(path) as lines:
        async for _ in lines:
            pass
