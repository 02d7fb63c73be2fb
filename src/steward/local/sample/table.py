"""The sample's table: customers in an SQLite file, and the changes that `steward sample` makes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from steward.local.errors import NoSample, UnknownCustomer
from steward.local.sample.namespace import TABLE_FILE

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


def initial_customers() -> list[Customer]:
    return [customer(name, "gold" if name in _GOLD else "basic") for name in _NAMES]


def customer(name: str, plan: str) -> Customer:
    return Customer(name, f"https://{name}.example.com", True, plan)


class CustomerTable:
    """The table in a directory. Every change is one transaction: an operator sees all of it or nothing."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / TABLE_FILE

    def ensure(self) -> None:
        """Create the table with its initial customers; an existing one is kept, even if it is empty."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._connect() as table:
                table.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} ({_COLUMNS})")
                _insert(table, initial_customers())

    def list(self) -> list[Customer]:
        with self._open_existing() as table:
            rows = table.execute(f"SELECT id, url, active, plan FROM {TABLE} ORDER BY id").fetchall()
        return [Customer(str(row[0]), str(row[1]), bool(row[2]), str(row[3])) for row in rows]

    def add(self, added: Customer) -> None:
        """Insert a customer; an existing one becomes active again."""
        with self._open_existing() as table:
            _insert(table, [added])

    def deactivate(self, name: str) -> None:
        with self._open_existing() as table:
            changed = table.execute(f"UPDATE {TABLE} SET active = 0 WHERE id = ?", (name,)).rowcount
        if not changed:
            raise UnknownCustomer(f"There is no customer {name}: `steward sample list` shows all customers.")

    def empty(self) -> int:
        """Delete all rows, and return their number."""
        with self._open_existing() as table:
            return table.execute(f"DELETE FROM {TABLE}").rowcount

    def refill(self) -> None:
        """Insert the initial customers again, as active."""
        with self._open_existing() as table:
            _insert(table, initial_customers())

    @contextmanager
    def _open_existing(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise NoSample(f"There is no sample table in {self.path.parent}: `steward up` creates it.")
        with self._connect() as table:
            yield table

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection


def _insert(table: sqlite3.Connection, customers: list[Customer]) -> None:
    table.executemany(f"INSERT OR REPLACE INTO {TABLE} VALUES (?, ?, ?, ?)", customers)
