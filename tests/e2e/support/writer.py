"""A client that inserts rows at a steady rate and knows which of them were acknowledged.

It uses one connection with autocommit, as a simple application does, and opens a new one after an error, or after some
seconds, as a connection pool with a maximum lifetime does. Every row has its own number, so that a comparison with the
table shows acknowledged rows that are missing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import asyncpg

INTERVAL_SECONDS = 0.05
STATEMENT_SECONDS = 60.0
CONNECT_SECONDS = 30.0  # a login waits for a switch of the primary, as a write does
READ_BACK_SECONDS = 60.0
TABLE = "counted_writes"
ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)


@dataclass(frozen=True)
class Endpoint:
    """Where and as which user to connect."""

    host: str
    port: int
    user: str
    password: str
    database: str

    async def connect(self) -> asyncpg.Connection:
        return await asyncpg.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            database=self.database,
            ssl=False,
            timeout=CONNECT_SECONDS,
            statement_cache_size=0,
        )


@dataclass
class WriteCounts:
    """The outcome of all writes so far."""

    acknowledged: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    longest_seconds: float = 0.0
    lost: list[int] = field(default_factory=list)

    def describe(self) -> str:
        return (
            f"{len(self.acknowledged)} acknowledged, {len(self.failures)} failed, {len(self.lost)} lost,"
            f" the longest took {self.longest_seconds:.1f} s"
        )


@dataclass
class CountingWriter:
    endpoint: Endpoint
    counts: WriteCounts = field(default_factory=WriteCounts)
    lifetime_seconds: float = math.inf
    _connection: asyncpg.Connection | None = None
    _connected_at: float = 0.0
    _next: int = 0

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            began = time.monotonic()
            await self._write_row()
            took = time.monotonic() - began
            self.counts.longest_seconds = max(self.counts.longest_seconds, took)
            await asyncio.sleep(max(0.0, INTERVAL_SECONDS - took))

    async def _write_row(self) -> None:
        self._next += 1
        try:
            async with asyncio.timeout(STATEMENT_SECONDS):
                connection = await self._connect()
                # Without parameters asyncpg uses the simple protocol, as psql does.
                await connection.execute(f"INSERT INTO {TABLE} (number) VALUES ({self._next})")
        except ERRORS as error:
            self.counts.failures.append(f"row {self._next}: {type(error).__name__}: {error}")
            await self.close()
        else:
            self.counts.acknowledged.append(self._next)

    async def _connect(self) -> asyncpg.Connection:
        if time.monotonic() - self._connected_at > self.lifetime_seconds:
            await self.close()
        if self._connection is None or self._connection.is_closed():
            self._connection = await self.endpoint.connect()
            self._connected_at = time.monotonic()
        return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


async def create_table(endpoint: Endpoint) -> None:
    connection = await endpoint.connect()
    try:
        await connection.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} (number bigint PRIMARY KEY)")
        await connection.execute(f"DELETE FROM {TABLE}")
    finally:
        await connection.close()


async def stored_rows(endpoint: Endpoint) -> set[int]:
    connection = await endpoint.connect()
    try:
        return {row["number"] for row in await connection.fetch(f"SELECT number FROM {TABLE}")}
    finally:
        await connection.close()


@asynccontextmanager
async def counted_writes(
    endpoint: Endpoint, lifetime_seconds: float = math.inf
) -> AsyncIterator[WriteCounts]:
    """Writes while the block runs; afterwards the counts include the acknowledged rows that the table lacks."""
    await create_table(endpoint)
    writer = CountingWriter(endpoint, lifetime_seconds=lifetime_seconds)
    writing = asyncio.create_task(writer.run(), name="counted writes")
    try:
        yield writer.counts
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await writer.close()
    stored = await _stored_in_time(endpoint)
    writer.counts.lost = sorted(set(writer.counts.acknowledged) - stored)


async def _stored_in_time(endpoint: Endpoint) -> set[int]:
    async with asyncio.timeout(READ_BACK_SECONDS):
        while True:
            with suppress(*ERRORS):
                return await stored_rows(endpoint)
            await asyncio.sleep(1.0)
