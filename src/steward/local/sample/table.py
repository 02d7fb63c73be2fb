"""The sample's table: a dozen customers in an SQLite file, and what a visitor does to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from steward.local.errors import NoSample, UnknownCustomer

FILE = "customers.db"
TABLE = "customers"
_COLUMNS = "id TEXT PRIMARY KEY, url TEXT NOT NULL, active INTEGER NOT NULL, plan TEXT NOT NULL"
_NAMES = (
    *("acme", "bluebird", "cobalt", "dynamo", "evergreen", "foxglove"),
    *("granite", "harbor", "indigo", "juniper", "kestrel", "lantern"),
)
_GOLD = ("acme", "kestrel")


class Customer(NamedTuple):
    id: str
    url: str
    active: bool
    plan: str


def dozen() -> list[Customer]:
    return [customer(name, "gold" if name in _GOLD else "basic") for name in _NAMES]


def customer(name: str, plan: str) -> Customer:
    return Customer(name, f"https://{name}.example.com", True, plan)


class Customers:
    """The table in a directory. Every change is one transaction: an operator reads all of it or nothing."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE

    def ensure(self) -> None:
        """Made on the spot; one that is there stays as it is, empty or not."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._connected() as table:
                table.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} ({_COLUMNS})")
                _fill(table, dozen())

    def list(self) -> list[Customer]:
        with self._opened() as table:
            rows = table.execute(f"SELECT id, url, active, plan FROM {TABLE} ORDER BY id").fetchall()
        return [Customer(str(row[0]), str(row[1]), bool(row[2]), str(row[3])) for row in rows]

    def add(self, added: Customer) -> None:
        """One who is there already is active again."""
        with self._opened() as table:
            _fill(table, [added])

    def deactivate(self, name: str) -> None:
        with self._opened() as table:
            changed = table.execute(f"UPDATE {TABLE} SET active = 0 WHERE id = ?", (name,)).rowcount
        if not changed:
            raise UnknownCustomer(f"There is no customer {name}: `steward sample list` shows who there is.")

    def empty(self) -> int:
        """How many rows there were."""
        with self._opened() as table:
            return table.execute(f"DELETE FROM {TABLE}").rowcount

    def refill(self) -> None:
        """The first dozen is back, and active."""
        with self._opened() as table:
            _fill(table, dozen())

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise NoSample(f"There is no sample table in {self.path.parent}: `steward up` makes it.")
        with self._connected() as table:
            yield table

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection


def _fill(table: sqlite3.Connection, customers: list[Customer]) -> None:
    table.executemany(f"INSERT OR REPLACE INTO {TABLE} VALUES (?, ?, ?, ?)", customers)
