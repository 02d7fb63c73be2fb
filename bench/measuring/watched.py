"""A bare watch beside a bare client: the lines are read and dropped.

Whoever keeps a cache of what it writes has the server encode and send every write once more. A floor without a watch
does not pay for that, so the engine is measured against both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.measuring.plane import Ground

LABEL = {"bench": "watched"}


@asynccontextmanager
async def watched(on: Ground) -> AsyncIterator[None]:
    """While inside, ConfigMaps with the label are watched."""
    reading = asyncio.create_task(_read_all(on))
    try:
        yield
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read_all(on: Ground) -> None:
    path = f"/api/v1/namespaces/{on.namespace}/configmaps?watch=1&labelSelector=bench%3Dwatched"
    async with on.bare.lines(path) as lines:
        async for _ in lines:
            pass
