"""Reads from a real MariaDB server, and from one whose responses are cut."""

import secrets
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import asyncmy
import pytest

from steward.tenants.api.source import MySqlSource, Tls
from steward.tenants.errors import AccessDenied, BrokenRead, SourceUnreachable, TlsFailed, WrongTable
from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.mysql import MySqlReader
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Columns, Row
from tests.support.database_servers import DatabaseServer
from tests.tenants.sources.support import conditions
from tests.tenants.sources.support.conditions import VALUES
from tests.tenants.sources.support.cutting_proxy import cutting_proxy
from tests.tenants.sources.support.tables import COLUMNS, long_rows, source_fields


class Database:
    """A database of its own for one test."""

    def __init__(self, server: DatabaseServer, name: str, connection: Any) -> None:
        self.server = server
        self.name = name
        self._connection = connection

    async def run(self, *statements: str) -> None:
        cursor = self._connection.cursor()
        for statement in statements:
            await cursor.execute(statement)

    async def many(self, count: int) -> None:
        cursor = self._connection.cursor()
        await cursor.executemany("INSERT INTO customers VALUES (%s, %s, %s, %s)", long_rows(count, 1))

    async def add_values(self) -> None:
        cursor = self._connection.cursor()
        rows = [(str(number), "", 1, value) for number, value in enumerate(VALUES)]
        await cursor.executemany(
            "INSERT INTO customers VALUES (%s, %s, %s, %s)", [*rows, ("null", "", 1, None)]
        )

    def source(self, **changes: Any) -> MySqlReader:
        fields = {"database": self.name, "table": "customers", **changes}
        return MySqlReader(
            MySqlSource(**source_fields(self.server, **fields)), SourceCredentials(self.server.password)
        )


@pytest.fixture
async def database(mariadb: DatabaseServer) -> AsyncIterator[Database]:
    name = f"db_{secrets.token_hex(4)}"
    connection = await asyncmy.connect(
        host="127.0.0.1", port=mariadb.port, user=mariadb.user, password=mariadb.password, autocommit=True
    )
    found = Database(mariadb, name, connection)
    await found.run(f"CREATE DATABASE {name}", f"USE {name}")
    await found.run(
        "CREATE TABLE customers (id VARCHAR(300), url TEXT, active TINYINT(1), `plan id` VARCHAR(50))"
    )
    yield found
    await found.run(f"DROP DATABASE {name}")
    connection.close()


async def test_rows_are_read_as_text(database: Database) -> None:
    await database.run(
        "INSERT INTO customers VALUES ('a', 'https://a', 1, 'gold'), ('b', NULL, 0, NULL), ('c', '{{', NULL, '💥')"
    )
    rows = await database.source().read(COLUMNS)
    assert rows.active == (Row("a", "https://a", "1", {"plan": "gold"}),)
    assert rows.inactive == {"b", "c"}
    assert rows.total == 3


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("BIT(1)", "b'1'", "1"),
        ("BIT(1)", "b'0'", "0"),
        ("BOOLEAN", "TRUE", "1"),
        ("INT", "42", "42"),
        ("DECIMAL(6,2)", "10.50", "10.50"),
        ("DOUBLE", "1", "1"),
        ("DATETIME", "'2026-01-02 03:04:05'", "2026-01-02T03:04:05Z"),
        ("TIMESTAMP", "'2026-01-02 03:04:05'", "2026-01-02T03:04:05Z"),
        ("DATE", "'2026-01-02'", "2026-01-02"),
        ("TIME", "'03:04:05'", "03:04:05"),
        ("JSON", "'{\"a\": 1}'", '{"a": 1}'),
        ("VARBINARY(10)", "'raw'", "raw"),
        ("ENUM('x','y')", "'y'", "y"),
        ("TEXT", "'ünï'", "ünï"),
    ],
)
async def test_every_type_is_converted_as_the_database_prints_it(
    database: Database, kind: str, value: str, text: str
) -> None:
    await database.run(
        "SET time_zone = '+00:00'",
        f"CREATE TABLE typed (id INT, v {kind} NULL)",
        f"INSERT INTO typed VALUES (1, {value})",
    )
    rows = await database.source(table="typed").read(Columns("id", "v", "id"))
    assert rows.active[0].host_or_url == text


@pytest.mark.parametrize("table", ["everyone", "{}.everyone"])
async def test_views_and_tables_of_other_databases_can_be_read(database: Database, table: str) -> None:
    await database.run("CREATE VIEW everyone AS SELECT * FROM customers")
    await database.many(3)
    assert (await database.source(table=table.format(database.name)).read(COLUMNS)).total == 3


async def test_ten_thousand_rows_arrive(database: Database) -> None:
    await database.many(10_000)
    rows = await database.source().read(COLUMNS)
    assert len({row.uid for row in rows.active}) == 10_000


async def test_bytes_that_are_no_text_reject_their_own_row(database: Database) -> None:
    await database.run(
        "CREATE TABLE raw (id VARBINARY(300), url VARBINARY(9), active INT)",
        "INSERT INTO raw VALUES ('a', x'ff', 1), ('b', 'ok', 1), (x'ff', 'ok', 1), (x'610062', 'ok', 1), ('', 'ok', 1)",
    )
    rows = await database.source(table="raw").read(Columns("id", "url", "active"))
    assert [row.uid for row in rows.active] == ["b"]
    assert sorted(row.uid for row in rows.rejected) == ["", "", "a", "a\0b"]


async def test_session_defaults_of_the_server_change_no_row(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await database.run("INSERT INTO customers VALUES ('a', 'https://ä', 1, 'b'), ('b', 'https://b', 1, 'b')")
    # As an administrator would set with `init_connect`, here only for the connection of the test.
    message = partial(asyncmy.connect, init_command="SET NAMES latin1, SESSION sql_select_limit = 1")
    monkeypatch.setattr(asyncmy, "connect", message)
    rows = await database.source().read(COLUMNS)
    assert [row.host_or_url for row in rows.active] == ["https://ä", "https://b"]


async def test_a_value_of_a_million_bytes_arrives(database: Database) -> None:
    await database.run(
        "CREATE TABLE big (id INT, url LONGTEXT, active INT)",
        "INSERT INTO big VALUES (1, REPEAT('x', 1000000), 1)",
    )
    rows = await database.source(table="big").read(Columns("id", "url", "active"))
    assert len(rows.active[0].host_or_url) == 1_000_000


async def test_a_row_that_is_too_large_is_rejected_and_the_others_arrive(database: Database) -> None:
    """Of any size: the last ones come in several packets of the protocol."""
    await database.run(
        "SET GLOBAL max_allowed_packet = 1073741824",
        "CREATE TABLE big (id VARCHAR(99), url LONGTEXT, active INT, more LONGTEXT)",
        "INSERT INTO big VALUES ('a', 'https://a', 1, ''), ('b', REPEAT('x', 1048576), 1, '')",
        "INSERT INTO big VALUES ('c', REPEAT('x', 10000000), 1, REPEAT('y', 10000000)), ('d', 'https://d', 1, '')",
        "INSERT INTO big VALUES (NULL, REPEAT('x', 9000000), 1, REPEAT('y', 9000000)), ('e', 'https://e', 0, '')",
    )
    rows = await database.source(table="big").read(Columns("id", "url", "active", (("more", "more"),)))
    assert [row.uid for row in rows.active] == ["a", "d"]
    assert rows.inactive == {"e"}
    assert [row.uid for row in rows.rejected] == ["b", "c", ""]
    assert "more than 1048576 bytes together: shorten them" in rows.rejected[1].reason
    assert "its uid is NULL" in rows.rejected[2].reason


async def test_zero_dates_and_unusual_bits_arrive_as_text(database: Database) -> None:
    await database.run(
        "SET SESSION sql_mode = ''",
        "CREATE TABLE odd (id BIT(64), url DATETIME, active INT)",
        "INSERT INTO odd VALUES (b'11', '0000-00-00 00:00:00', 1)",
    )
    (row,) = (await database.source(table="odd").read(Columns("id", "url", "active"))).active
    assert (row.uid, row.host_or_url) == ("3", "0000-00-00 00:00:00")


@pytest.mark.parametrize(
    ("changes", "columns", "expected"),
    [
        ({"table": "nothing"}, COLUMNS, WrongTable),
        ({"database": "nothing"}, COLUMNS, WrongTable),
        ({"table": "customers` WHERE 1=0; -- "}, COLUMNS, Exception),
        ({}, Columns("gone", "url", "active"), WrongTable),
        ({"username": "nobody"}, COLUMNS, AccessDenied),
        ({"port": 1}, COLUMNS, SourceUnreachable),
        ({"host": "no-such-host.invalid"}, COLUMNS, SourceUnreachable),
        ({"tls": Tls(mode="require")}, COLUMNS, TlsFailed),
        ({"tls": Tls(mode="verify-full")}, COLUMNS, TlsFailed),
    ],
)
async def test_each_failure_has_its_error_type(
    database: Database, changes: dict[str, Any], columns: Columns, expected: type[Exception]
) -> None:
    with pytest.raises(expected) as caught:
        await database.source(**changes).read(columns)
    assert "mysql " in str(caught.value) or "table" in str(caught.value)
    assert database.server.password not in str(caught.value)


async def test_a_wrong_password_is_denied_and_not_printed(database: Database) -> None:
    source = MySqlReader(
        MySqlSource(
            host="127.0.0.1",
            port=database.server.port,
            username=database.server.user,
            database=database.name,
            table="customers",
        ),
        SourceCredentials("wr0ng-password"),
    )
    with pytest.raises(AccessDenied) as caught:
        await source.read(COLUMNS)
    assert "wr0ng-password" not in str(caught.value)


async def test_prefer_reads_from_a_server_without_tls(database: Database) -> None:
    await database.many(1)
    assert (await database.source(tls=Tls(mode="prefer")).read(COLUMNS)).total == 1


async def test_a_slow_query_is_stopped_by_the_server(database: Database) -> None:
    await database.run("CREATE VIEW slow AS SELECT SLEEP(30) AS id, 1 AS url, 1 AS active")
    with pytest.raises(BrokenRead, match="longer than 1s; raise queryTimeout"):
        await database.source(table="slow", query_timeout="1s").read(Columns("id", "url", "active"))


async def test_the_session_cannot_write(database: Database) -> None:
    await database.run(
        "CREATE TABLE log (id INT)",
        "CREATE FUNCTION noisy() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (1); RETURN 1; END",
        "CREATE VIEW sly AS SELECT noisy() AS id, 1 AS url, 1 AS active",
    )
    with pytest.raises(BrokenRead, match="READ ONLY"):
        await database.source(table="sly").read(Columns("id", "url", "active"))


async def test_every_cut_of_a_response_is_an_error(database: Database) -> None:
    """For every byte after which the connection ends: all rows or an error, never a part."""
    await database.many(20)
    async with cutting_proxy("127.0.0.1", database.server.port) as proxy:
        whole = await database.source(port=proxy.port).read(COLUMNS)
        assert whole.total == 20
        # The last packets (of COMMIT) come after the rows; every budget below the total must fail.
        total = proxy.passed
        for budget in range(0, total, 97):
            proxy.passed, proxy.budget = 0, budget
            with pytest.raises((BrokenRead, SourceUnreachable)):
                await database.source(port=proxy.port).read(COLUMNS)


async def test_a_response_that_stops_is_ended_by_the_timeout_of_the_reader(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.tenants.sources.mysql.GRACE_SECONDS", 0.0)
    await database.many(200)
    async with cutting_proxy("127.0.0.1", database.server.port) as proxy:
        proxy.budget, proxy.holds = 5000, True
        with pytest.raises(BrokenRead, match="longer than 1s"):
            await database.source(port=proxy.port, query_timeout="1s").read(COLUMNS)


@pytest.mark.parametrize("value", VALUES)
async def test_a_condition_finds_exactly_the_rows_with_its_value(database: Database, value: str) -> None:
    await database.add_values()
    found = await database.source().read(conditions.columns(ColumnCondition("plan id", (value,))))
    assert conditions.read_uids(found) == conditions.uids(value)
    others = await database.source().read(
        conditions.columns(ColumnCondition("plan id", (value,), is_negated=True))
    )
    assert len(conditions.read_uids(others)) == len(VALUES) + 1 - len(conditions.uids(value))


@pytest.mark.parametrize(
    ("column", "value", "count"),
    [
        ("active", "1", 2),
        ("active", "true", 0),
        ("n", "7.50", 1),
        ("n", "7.5", 0),
        ("old", "é", 1),
        ("gone", "", 0),
    ],
)
async def test_a_condition_compares_the_text_of_any_type(
    database: Database, column: str, value: str, count: int
) -> None:
    await database.run(
        "ALTER TABLE customers ADD n DECIMAL(5, 2), ADD old VARCHAR(9) CHARACTER SET latin1",
        "INSERT INTO customers VALUES ('a', '', 1, '', 7.5, 'é'), ('b', '', 1, '', 8, 'e')",
    )
    read = database.source().read(conditions.columns(ColumnCondition(column, (value,))))
    if column == "gone":
        with pytest.raises(WrongTable, match="gone"):
            await read
    else:
        assert len((await read).active) == count
