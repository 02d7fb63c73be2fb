"""Rows of real SQLite files."""

import random
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from steward.tenants.api.source import SqliteSource
from steward.tenants.errors import BadSource, BrokenRead, SourceError, WrongTable
from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.reader import SourceEnvironment
from steward.tenants.sources.rows import Columns, Row
from steward.tenants.sources.sqlite import SqliteReader, file_below
from tests.tenants.sources.support import conditions
from tests.tenants.sources.support.conditions import VALUES
from tests.tenants.sources.support.tables import COLUMNS

TABLE = 'CREATE TABLE customers (id, url, active, "plan id");'


@pytest.fixture
def database(tmp_path: Path) -> Callable[[str], Path]:
    def make(script: str, name: str = "customers.db") -> Path:
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.executescript(script)
        return tmp_path / name

    return make


def source(file: str = "customers.db", table: str = "customers", timeout: str = "30s") -> SqliteSource:
    return SqliteSource(file=file, table=table, query_timeout=timeout)


async def test_rows_of_a_table_are_classified(database: Callable[[str], Path], tmp_path: Path) -> None:
    database(TABLE + "INSERT INTO customers VALUES ('a', 'https://a', 1, 'gold'), (7, NULL, 0, NULL)")
    rows = await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)
    assert rows.active == (Row("a", "https://a", "1", {"plan": "gold"}),)
    assert rows.inactive == {"7"}


@pytest.mark.parametrize("table", ["v", "main.v"])
async def test_a_view_can_be_read(database: Callable[[str], Path], tmp_path: Path, table: str) -> None:
    database(
        TABLE + "CREATE VIEW v AS SELECT * FROM customers; INSERT INTO customers VALUES ('a','b','1','')"
    )
    assert (await SqliteReader(source(table=table), SourceEnvironment(tmp_path)).read(COLUMNS)).total == 1


async def test_a_text_that_is_not_utf8_rejects_its_own_row(
    database: Callable[[str], Path], tmp_path: Path
) -> None:
    database(
        TABLE
        + "INSERT INTO customers VALUES ('a', CAST(x'ff' AS TEXT), 1, ''), ('b', '', 1, ''), (x'ff', '', 1, '')"
    )
    rows = await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)
    assert [row.uid for row in rows.active] == ["b"]
    assert {row.uid for row in rows.rejected} == {"a", ""}


@pytest.mark.parametrize(
    ("columns", "table"),
    [
        (COLUMNS, "nothing"),
        (COLUMNS, "elsewhere.customers"),
        (Columns("id", "url", "gone"), "customers"),
        (Columns("id", "url", "`gone`"), "customers"),
    ],
)
async def test_a_missing_table_or_column_is_named(
    database: Callable[[str], Path], tmp_path: Path, columns: Columns, table: str
) -> None:
    database(TABLE)
    with pytest.raises(WrongTable, match=r"nothing|elsewhere|gone"):
        await SqliteReader(source(table=table), SourceEnvironment(tmp_path)).read(columns)


async def test_a_slow_query_is_stopped(database: Callable[[str], Path], tmp_path: Path) -> None:
    database(
        "CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        'SELECT max(i) AS id, 1 AS url, 1 AS active, 1 AS "plan id" FROM n'
    )
    ticks = iter(range(0, 10_000, 10))
    environment = SourceEnvironment(tmp_path)
    slow = SqliteReader(source(table="slow", timeout="30s"), environment, lambda: float(next(ticks)))
    with pytest.raises(BrokenRead, match="longer than 30s; raise queryTimeout"):
        await slow.read(COLUMNS)


async def test_a_file_that_is_no_database_is_a_broken_read(tmp_path: Path) -> None:
    (tmp_path / "customers.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(BrokenRead, match="not a database"):
        await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)


async def test_a_cut_file_is_a_broken_read(database: Callable[[str], Path], tmp_path: Path) -> None:
    path = database(TABLE + "INSERT INTO customers VALUES ('a', 'b', 1, 'x')")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            "INSERT INTO customers VALUES (?, ?, 1, '')", [(f"t{number}", "x" * 100) for number in range(500)]
        )
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BrokenRead):
        await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)


@pytest.mark.parametrize(
    "name", ["../secret.db", "/etc/passwd", "sub/../../secret.db", "link.db", "dir/secret.db"]
)
def test_no_path_leads_out_of_the_root(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "secret.db").write_bytes(b"")
    (root / "link.db").symlink_to(tmp_path / "secret.db")
    (root / "dir").symlink_to(tmp_path)
    with pytest.raises(BadSource, match="not below the directory"):
        file_below(root, name)


def test_a_missing_file_and_a_missing_root_have_different_errors(tmp_path: Path) -> None:
    with pytest.raises(WrongTable, match="does not exist"):
        file_below(tmp_path, "nothing.db")
    with pytest.raises(BadSource, match="--sqlite-root"):
        file_below(None, "x.db")
    with pytest.raises(BadSource, match="NUL"):
        file_below(tmp_path, "a\0b")


def test_a_path_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BadSource, match="form a loop"):
        file_below(tmp_path, "a")
    with pytest.raises(BadSource, match="too long"):
        file_below(tmp_path, "x" * 300)


async def test_reading_changes_nothing(database: Callable[[str], Path], tmp_path: Path) -> None:
    path = database(TABLE + "INSERT INTO customers VALUES ('a', 'b', 1, 'x')")
    before = path.read_bytes()
    await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)
    assert path.read_bytes() == before


async def test_a_row_that_is_too_large_is_rejected_and_the_others_arrive(
    database: Callable[[str], Path], tmp_path: Path
) -> None:
    database(
        TABLE
        + "INSERT INTO customers VALUES ('a', '', 1, ''), ('b', zeroblob(2000000), 1, ''), ('c', '', 1, '')"
    )
    rows = await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)
    assert [row.uid for row in rows.active] == ["a", "c"]
    assert [row.uid for row in rows.rejected] == ["b"]


@pytest.mark.parametrize("value", ["zeroblob(20000000)", "hex(zeroblob(500000000))"])
async def test_a_huge_value_ends_the_read_before_it_takes_memory(
    database: Callable[[str], Path], tmp_path: Path, value: str
) -> None:
    """Stored, or computed by a view."""
    database(f'CREATE VIEW huge AS SELECT 1 AS id, {value} AS url, 1 AS active, 1 AS "plan id"')
    tracemalloc.start()
    try:
        with pytest.raises(BrokenRead, match="too big"):
            await SqliteReader(source(table="huge"), SourceEnvironment(tmp_path)).read(COLUMNS)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


async def test_endless_rows_of_a_view_end_at_the_limit_of_the_table(
    database: Callable[[str], Path], tmp_path: Path
) -> None:
    database(
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        'SELECT i AS id, i AS url, 1 AS active, 1 AS "plan id" FROM n'
    )
    environment = SourceEnvironment(tmp_path, table_bytes=1 << 20)
    with pytest.raises(BrokenRead, match="take 1 MiB: read a view"):
        await SqliteReader(source(table="endless"), environment).read(COLUMNS)


async def test_a_damaged_file_gives_rows_or_an_error(database: Callable[[str], Path], tmp_path: Path) -> None:
    """Whatever bytes of the file are changed."""
    path = database(TABLE + "INSERT INTO customers VALUES ('a', 'b', 1, 'x'), ('c', 'd', 0, 'y')")
    whole = path.read_bytes()
    damage = random.Random(7)
    for _ in range(300):
        changed = bytearray(whole)
        for _ in range(damage.randrange(1, 20)):
            changed[damage.randrange(16, len(whole))] = damage.randrange(256)
        path.write_bytes(changed)
        with suppress(SourceError):
            await SqliteReader(source(), SourceEnvironment(tmp_path)).read(COLUMNS)


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16"])
@pytest.mark.parametrize("value", VALUES)
async def test_a_condition_finds_exactly_the_rows_with_its_value(
    tmp_path: Path, value: str, encoding: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "customers.db")) as connection, connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.execute('CREATE TABLE customers (id, url, active, "plan id" TEXT COLLATE NOCASE)')
        rows = [(str(number), "", 1, each) for number, each in enumerate(VALUES)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", [*rows, ("null", "", 1, None)])
    reader = SqliteReader(source(), SourceEnvironment(tmp_path))
    found = await reader.read(conditions.columns(ColumnCondition("plan id", (value,))))
    assert conditions.read_uids(found) == conditions.uids(value)
    others = await reader.read(conditions.columns(ColumnCondition("plan id", (value,), is_negated=True)))
    assert len(conditions.read_uids(others)) == len(VALUES) + 1 - len(conditions.uids(value))


async def test_a_condition_on_a_missing_column_is_named(
    database: Callable[[str], Path], tmp_path: Path
) -> None:
    database(TABLE)
    with pytest.raises(WrongTable, match=r"gone.*where"):
        await SqliteReader(source(), SourceEnvironment(tmp_path)).read(
            conditions.columns(ColumnCondition("gone", ("a",)))
        )
