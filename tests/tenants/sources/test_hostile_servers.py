"""Reads from hostile servers end with an error, within limits of bytes received and of memory."""

import asyncio
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from steward.tenants.api.source import MySqlSource, PostgresSource, Tls
from steward.tenants.errors import BrokenRead, SourceError
from steward.tenants.sources.mysql import MySqlReader
from steward.tenants.sources.postgres import PostgresReader
from steward.tenants.sources.reader import SourceCredentials, SourceEnvironment
from steward.tenants.sources.rows import Columns
from tests.attacks.support import hostile_mysql, hostile_postgres
from tests.attacks.support.hostile_server import HostileServer, Script, hostile_server

COLUMNS = Columns("id", "url", "active")
PASSWORD = "s3cret-of-the-reader"
ENVIRONMENT = SourceEnvironment(table_bytes=8 << 20)
RECEIVED_BYTES = 64 << 20
MEMORY_BYTES = 24 << 20
"""The table of 8 MiB, buffers of the driver, and the pieces that the hostile server repeats."""
SENT_BYTES = RECEIVED_BYTES + (32 << 20)
"""What the kernel buffers was sent and not received."""
GUARD_SECONDS = 60.0


@pytest.fixture(autouse=True)
def small_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in ("mysql", "postgres"):
        monkeypatch.setattr(f"steward.tenants.sources.{module}.RECEIVED_BYTES", RECEIVED_BYTES)
        monkeypatch.setattr(f"steward.tenants.sources.{module}.GRACE_SECONDS", 0.0)
    tracemalloc.start()
    yield
    tracemalloc.stop()


def reader(kind: str, server: HostileServer, **changes: Any) -> MySqlReader | PostgresReader:
    fields = {"port": server.port, "tls": Tls(mode="disable"), "query_timeout": "5s", **changes}
    fields |= {"host": "127.0.0.1", "username": "reader", "database": "saas", "table": "customers"}
    if kind == "mysql":
        return MySqlReader(MySqlSource(**fields), SourceCredentials(PASSWORD), ENVIRONMENT)
    return PostgresReader(PostgresSource(**fields), SourceCredentials(PASSWORD), ENVIRONMENT)


async def failed_read(kind: str, script: Script, **changes: Any) -> tuple[SourceError, HostileServer]:
    """The error, and what the server has sent until the client hung up."""
    with hostile_server(script) as server:
        async with asyncio.timeout(GUARD_SECONDS):
            with pytest.raises(SourceError) as caught:
                await reader(kind, server, **changes).read(COLUMNS)
            # The transport closes its socket in the next turn of the event loop.
            await asyncio.sleep(0)
    return caught.value, server


CASES = [
    *(("mysql", name) for name in hostile_mysql.ATTACKS),
    *(("postgres", name) for name in hostile_postgres.ATTACKS),
]
SCRIPTS = {"mysql": hostile_mysql.ATTACKS, "postgres": hostile_postgres.ATTACKS}


@pytest.mark.parametrize(("kind", "attack"), CASES)
async def test_a_hostile_server_fills_neither_the_memory_nor_the_status(kind: str, attack: str) -> None:
    error, server = await failed_read(kind, SCRIPTS[kind][attack])
    _, peak = tracemalloc.get_traced_memory()
    assert peak < MEMORY_BYTES
    assert server.sent < SENT_BYTES
    assert len(str(error)) < 600
    assert str(error).isprintable()
    assert server.received == []


@pytest.mark.parametrize(
    ("kind", "script"), [("mysql", hostile_mysql.drip), ("postgres", hostile_postgres.drip)]
)
async def test_a_slow_drip_ends_with_the_time_limit_of_the_query(kind: str, script: Script) -> None:
    error, _ = await failed_read(kind, script, query_timeout="1s")
    assert "the query took longer than 1s; raise queryTimeout" in str(error)


@pytest.mark.parametrize(
    ("kind", "script"),
    [("mysql", hostile_mysql.drip_greeting), ("postgres", hostile_postgres.drip_greeting)],
)
async def test_a_slow_drip_ends_with_the_time_limit_of_the_connection(kind: str, script: Script) -> None:
    error, _ = await failed_read(kind, script, connect_timeout="1s")
    assert "no answer within 1s" in str(error)


async def test_an_error_text_with_the_password_is_masked() -> None:
    def denied(peer: Any) -> None:
        mysql = hostile_mysql.MySqlPeer(peer)
        mysql.until_select()
        mysql.error(1064, f"your password is {PASSWORD}, is it not?".encode())

    error, _ = await failed_read("mysql", denied)
    assert isinstance(error, BrokenRead)
    assert PASSWORD not in str(error)
    assert "your password is ***, is it not?" in str(error)


async def test_too_much_hashing_is_explained() -> None:
    error, _ = await failed_read("postgres", hostile_postgres.ATTACKS["endless_hashing"])
    assert "lower scram_iterations" in str(error)
