"""The table of a fleet's life, on a real server behind a proxy that can fail, or in an SQLite file."""

import asyncio
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol

import asyncmy
import asyncpg

from tests.chaos.fleet_model import PASSWORD_SECRET, Manifest, Row
from tests.support.database_servers import DatabaseServer
from tests.tenants.support.database_proxy import DatabaseProxy, database_proxy

COLUMNS = "(id VARCHAR(60), url TEXT, active VARCHAR(9), plan TEXT, token TEXT)"
BIG_COLUMNS = COLUMNS.replace("url TEXT", "url LONGTEXT")
INTERVAL = "1s"
CUT_BYTES = 300


class FleetDatabase(Protocol):
    password: str

    def source(self) -> Manifest:
        """The source of the registry."""

    async def write(self, rows: Iterable[Row]) -> None:
        """Replace all rows at once."""

    def inject(self, fault: str) -> None:
        """Replace the current fault; "" ends it."""

    def close(self) -> None: ...


class ServerDatabase:
    """A database on a MariaDB or PostgreSQL server."""

    def __init__(self, kind: str, server: DatabaseServer) -> None:
        self.password = secrets.token_hex(12)
        self._kind = kind
        self._server = server
        self._name = f"db_{secrets.token_hex(4)}"
        self._running: AbstractContextManager[DatabaseProxy] = database_proxy(("127.0.0.1", server.port))
        self._proxy = self._running.__enter__()

    async def create(self) -> None:
        if self._kind == "mysql":
            await self._create_on_mariadb()
        else:
            await self._create_on_postgres()

    def source(self) -> Manifest:
        block = {
            "host": "127.0.0.1", "port": self._proxy.port, "username": self._name, "database": self._name,
            "table": "customers", "passwordRef": {"name": PASSWORD_SECRET, "key": "password"},
            "tls": {"mode": "disable"}, "connectTimeout": "2s", "queryTimeout": "3s",
        }  # fmt: skip
        return {"type": self._kind, "syncInterval": INTERVAL, self._kind: block}

    async def write(self, rows: Iterable[Row]) -> None:
        values = [row.values for row in rows]
        async with self._connection(self._name) as execute:
            await execute("BEGIN")
            await execute("DELETE FROM customers")
            for row in values:
                await execute(f"INSERT INTO customers VALUES ({', '.join(map(_quoted, row))})")
            await execute("COMMIT")

    def inject(self, fault: str) -> None:
        self._proxy.refuses = fault == "refuse"
        self._proxy.is_silent = fault == "silent"
        self._proxy.cuts_after = CUT_BYTES if fault == "cut" else None
        self._proxy.reads_other_table = fault == "empty"
        self._proxy.cut_all()

    def close(self) -> None:
        self._running.__exit__(None, None, None)

    async def _create_on_mariadb(self) -> None:
        async with self._connection("") as execute:
            await execute(f"CREATE DATABASE {self._name}")
            for table in ("customers", "customerz"):
                await execute(f"CREATE TABLE {self._name}.{table} {BIG_COLUMNS}")
            await execute(f"CREATE USER {self._name} IDENTIFIED BY '{self.password}'")
            await execute(f"GRANT SELECT ON {self._name}.* TO {self._name}")

    async def _create_on_postgres(self) -> None:
        async with self._connection("postgres") as execute:
            await execute(f"CREATE DATABASE {self._name}")
            await execute(f"CREATE USER {self._name} PASSWORD '{self.password}'")
        async with self._connection(self._name) as execute:
            for table in ("customers", "customerz"):
                await execute(f"CREATE TABLE {table} {COLUMNS}")
                await execute(f"GRANT SELECT ON {table} TO {self._name}")

    @asynccontextmanager
    async def _connection(self, database: str) -> AsyncIterator[Any]:
        where = {
            "host": "127.0.0.1",
            "port": self._server.port,
            "user": self._server.user,
            "password": self._server.password,
        }
        if self._kind == "mysql":
            connection = await asyncmy.connect(**where, db=database or None)
            try:
                yield connection.cursor().execute
            finally:
                await connection.ensure_closed()
                # The transport closes its socket in the next iteration of the event loop.
                await asyncio.sleep(0)
        else:
            connection = await asyncpg.connect(**where, database=database)
            try:
                yield connection.execute
            finally:
                await connection.close()


def _quoted(text: str) -> str:
    # The model's values contain no quotes.
    return f"'{text}'"


class SqliteDatabase:
    """An SQLite file. A fault moves the file away; `empty` puts one without rows in its place."""

    FILE = "customers.db"

    def __init__(self, directory: Path) -> None:
        self.password = ""
        self._directory = directory
        self._file, self._away = directory / self.FILE, directory / "away.db"
        self._create(self._file)

    def source(self) -> Manifest:
        block = {"file": self.FILE, "table": "customers"}
        return {"type": "sqlite", "syncInterval": INTERVAL, "sqlite": block}

    async def write(self, rows: Iterable[Row]) -> None:
        values = [row.values for row in rows]
        path = self._away if self._away.exists() else self._file
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM customers")
            connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?, ?)", values)

    def inject(self, fault: str) -> None:
        if fault and not self._away.exists():
            self._file.rename(self._away)
        elif not fault and self._away.exists():
            self._away.replace(self._file)
        if fault == "empty":
            empty = self._directory / "empty.db"
            self._create(empty)
            empty.replace(self._file)

    def close(self) -> None:
        """Deleted with its directory."""

    def _create(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"CREATE TABLE customers {COLUMNS}")
