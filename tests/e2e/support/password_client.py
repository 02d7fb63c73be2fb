"""A client that opens a new connection for every statement, with the password that its Secret has at that moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import asyncpg

from steward.multigres import names
from tests.e2e.support.database_cluster import DatabaseCluster
from tests.e2e.support.writer import Endpoint

INTERVAL_SECONDS = 0.02


@dataclass
class LoginCounts:
    """The outcome of all logins so far; `gaps` are the seconds from a rejected login to the next accepted one."""

    accepted: list[str] = field(default_factory=list)
    rejected: int = 0
    failures: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    @property
    def longest_gap(self) -> float:
        return max(self.gaps, default=0.0)

    def describe(self) -> str:
        return (
            f"{len(self.accepted)} logins accepted, {self.rejected} rejected, {len(self.failures)} failed,"
            f" the longest gap was {self.longest_gap:.2f} s"
        )


@dataclass
class PasswordClient:
    database: DatabaseCluster
    counts: LoginCounts = field(default_factory=LoginCounts)
    _rejected_since: float | None = None

    async def run(self) -> None:
        """Until cancelled."""
        endpoint = await asyncio.to_thread(self.database.endpoint)
        while True:
            began = time.monotonic()
            secret = names.connection_secret(self.database.name)
            password = (await asyncio.to_thread(self.database.secret, secret))["password"]
            await self._log_in(replace(endpoint, password=password), began)
            await asyncio.sleep(INTERVAL_SECONDS)

    async def _log_in(self, endpoint: Endpoint, began: float) -> None:
        try:
            connection = await endpoint.connect()
        except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError):
            self.counts.rejected += 1
            self._rejected_since = began if self._rejected_since is None else self._rejected_since
            return
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
            self.counts.failures.append(f"{type(error).__name__}: {error}")
            return
        connection.terminate()
        self.counts.accepted.append(endpoint.password)
        if self._rejected_since is not None:
            self.counts.gaps.append(time.monotonic() - self._rejected_since)
            self._rejected_since = None


@asynccontextmanager
async def counted_logins(database: DatabaseCluster) -> AsyncIterator[LoginCounts]:
    """Logs in while the block runs."""
    client = PasswordClient(database)
    running = asyncio.create_task(client.run(), name="counted logins")
    try:
        yield client.counts
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
