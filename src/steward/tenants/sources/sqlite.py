"""Reads rows of an SQLite file below the directory of `--sqlite-root`, and of no other file.

Reads run in threads of their own: SQLite has no asynchronous API, and the default threads of the process resolve names
for all other sources. The author of a file is not trusted: views run until a deadline, and SQLite checks the cells of
pages and keeps no value above a limit.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from steward.kube.objects.durations import parse_interval
from steward.tenants.api.source import SqliteSource
from steward.tenants.errors import BadSource, BrokenRead, SourceError, WrongTable
from steward.tenants.sources.conditions import SQLITE
from steward.tenants.sources.error_text import clean_text
from steward.tenants.sources.reader import DEFAULT_ENVIRONMENT, SourceEnvironment
from steward.tenants.sources.rows import Columns, Rows, RowSorter

_STEPS_BETWEEN_TIMEOUT_CHECKS: Final = 10_000
_STATEMENTS: Final = (
    "PRAGMA query_only = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "BEGIN",
)
_MAX_VALUE_BYTES: Final = 16 << 20
"""A larger value, also one that a view computes, ends the read. Smaller ones are rejected with their row."""
_THREADS: Final = ThreadPoolExecutor(max_workers=4, thread_name_prefix="sqlite")


class SqliteReader:
    def __init__(
        self,
        source: SqliteSource,
        environment: SourceEnvironment = DEFAULT_ENVIRONMENT,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._environment = environment
        self._monotonic = monotonic

    async def read(self, columns: Columns) -> Rows:
        query = SQLITE.select(columns.names, self._source.table, columns.where)
        return await asyncio.get_running_loop().run_in_executor(_THREADS, self._read, query, columns)

    def _read(self, query: str, columns: Columns) -> Rows:
        path = file_below(self._environment.sqlite_root, self._source.file)
        sorter = RowSorter(columns, self._environment.table_bytes)
        with self._explained(), closing(self._connect(path)) as connection:
            for statement in _STATEMENTS:
                connection.execute(statement)
            for row in connection.execute(query):
                sorter.add(row)
        return sorter.rows()

    def _connect(self, path: Path) -> sqlite3.Connection:
        limit = parse_interval(self._source.query_timeout)
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, timeout=limit, isolation_level=None
        )
        # As bytes, so that a text that is not UTF-8 causes the rejection of its row and not a failed read.
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        deadline = self._monotonic() + limit
        connection.set_progress_handler(
            lambda: int(self._monotonic() > deadline), _STEPS_BETWEEN_TIMEOUT_CHECKS
        )
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain(clean_text(str(error))) from None
        except (MemoryError, UnicodeDecodeError) as error:
            # The second is raised for the name of a table or column in a damaged file.
            raise self._explain(f"{type(error).__name__} while it was read") from None

    def _explain(self, text: str) -> SourceError:
        name = f"sqlite file {self._source.file!r}"
        if "no such table" in text or "no such column" in text or "unknown database" in text:
            return WrongTable(f"{name}: {text}; correct table, valueMappings or where, or restore it")
        if "interrupted" in text:
            problem = f"took longer than {self._source.query_timeout}; raise queryTimeout"
            return BrokenRead(f"{name}: the query {problem}")
        return BrokenRead(f"{name}: {text}; check that the file is a database and can be read")


def file_below(root: Path | None, name: str) -> Path:
    """The file with all links resolved; BadSource if that is not below the root."""
    if root is None:
        raise BadSource("type sqlite is switched off: start the operator with --sqlite-root DIRECTORY")
    if "\0" in name:
        raise BadSource("sqlite.file holds a NUL character: correct the path")
    try:
        return _file_below(root, name)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its links form a loop"
        raise BadSource(f"sqlite.file {name!r} cannot be opened ({reason}): correct the path") from None


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
