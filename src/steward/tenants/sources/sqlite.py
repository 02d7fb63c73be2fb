"""Rows of an SQLite file below a directory that the operator was given, and of no other file.

Reads run in a thread of their own: SQLite has no other way to wait.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from steward.tenants.api.source import SqliteSource
from steward.tenants.errors import BadSource, BrokenRead, SourceError, WrongTable
from steward.tenants.intervals import seconds_of
from steward.tenants.sources.identifiers import SQLITE
from steward.tenants.sources.rows import Columns, Rows, Sorter

_STEPS_BETWEEN_LOOKS: Final = 10_000
_STATEMENTS: Final = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "BEGIN")


class Sqlite:
    def __init__(
        self, source: SqliteSource, root: Path | None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self._root = root
        self._monotonic = monotonic

    async def read(self, columns: Columns) -> Rows:
        query = SQLITE.select(columns.names, self._source.table)
        return await asyncio.to_thread(self._read, query, columns)

    def _read(self, query: str, columns: Columns) -> Rows:
        path = file_below(self._root, self._source.file)
        sorter = Sorter(columns)
        with self._explained(), closing(self._connect(path)) as connection:
            for statement in _STATEMENTS:
                connection.execute(statement)
            for row in connection.execute(query):
                sorter.add(row)
        return sorter.sorted()

    def _connect(self, path: Path) -> sqlite3.Connection:
        limit = seconds_of(self._source.query_timeout)
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, timeout=limit, isolation_level=None
        )
        # As bytes, so that a text that is no UTF-8 spoils its own row and not the whole read.
        connection.text_factory = bytes
        deadline = self._monotonic() + limit
        connection.set_progress_handler(lambda: int(self._monotonic() > deadline), _STEPS_BETWEEN_LOOKS)
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain(str(error)) from None

    def _explain(self, said: str) -> SourceError:
        name = f"sqlite file {self._source.file!r}"
        if "no such table" in said or "no such column" in said or "unknown database" in said:
            return WrongTable(f"{name}: {said}; correct table or valueMappings, or bring it back")
        if "interrupted" in said:
            told = f"took longer than {self._source.query_timeout}; raise queryTimeout"
            return BrokenRead(f"{name}: the query {told}")
        return BrokenRead(f"{name}: {said}; check that the file is a database and can be read")


def file_below(root: Path | None, name: str) -> Path:
    """The file, wherever links lead; BadSource if that is not below the root."""
    if root is None:
        raise BadSource("type sqlite is switched off: start the operator with --sqlite-root DIRECTORY")
    if "\0" in name:
        raise BadSource("sqlite.file holds a NUL character: correct the path")
    try:
        return _file_below(root, name)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "its links lead in a circle"
        raise BadSource(f"sqlite.file {name!r} cannot be looked at ({why}): correct the path") from None


def _file_below(root: Path, name: str) -> Path:
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise BadSource(
            f"sqlite.file {name!r} is not below the directory of --sqlite-root: name a file in it"
        )
    if not path.is_file():
        raise WrongTable(
            f"sqlite.file {name!r} does not exist: create it below the directory of --sqlite-root"
        )
    return path
