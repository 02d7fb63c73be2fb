"""Reads from a real PostgreSQL server, and from one whose responses are cut."""

import secrets
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from steward.tenants.api.source import PostgresSource, Tls
from steward.tenants.errors import AccessDenied, BrokenRead, SourceUnreachable, TlsFailed, WrongTable
from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.postgres import PostgresReader
from steward.tenants.sources.reader import SourceCredentials, SourceEnvironment
from steward.tenants.sources.rows import Columns, Row
from tests.support.database_servers import DatabaseServer
from tests.tenants.sources.support import conditions
from tests.tenants.sources.support.conditions import VALUES
from tests.tenants.sources.support.cutting_proxy import cutting_proxy
from tests.tenants.sources.support.tables import COLUMNS, long_rows, source_fields


class Schema:
    """A schema of its own for one test."""

    def __init__(self, server: DatabaseServer, name: str, connection: Any) -> None:
        self.server = server
        self.name = name
        self.connection = connection

    async def run(self, *statements: str) -> None:
        for statement in statements:
            await self.connection.execute(statement)

    async def many(self, count: int) -> None:
        await self.connection.executemany(
            "INSERT INTO customers VALUES ($1, $2, $3, $4)", long_rows(count, True)
        )

    async def add_values(self) -> None:
        rows = [(str(number), "", True, value) for number, value in enumerate([*VALUES])]
        await self.connection.executemany(
            "INSERT INTO customers VALUES ($1, $2, $3, $4)", [*rows, ("null", "", True, None)]
        )

    def source(self, **changes: Any) -> PostgresReader:
        fields = {"database": "postgres", "table": f"{self.name}.customers", **changes}
        return PostgresReader(
            PostgresSource(**source_fields(self.server, **fields)), SourceCredentials(self.server.password)
        )


@pytest.fixture
async def schema(postgres: DatabaseServer) -> AsyncIterator[Schema]:
    name = f"s_{secrets.token_hex(4)}"
    connection = await asyncpg.connect(
        host="127.0.0.1",
        port=postgres.port,
        user=postgres.user,
        password=postgres.password,
        database="postgres",
    )
    found = Schema(postgres, name, connection)
    await found.run(
        f"CREATE SCHEMA {name}",
        f"SET search_path = {name}",
        'CREATE TABLE customers (id TEXT, url TEXT, active BOOLEAN, "plan id" TEXT)',
    )
    yield found
    await found.run(f"DROP SCHEMA {name} CASCADE")
    await connection.close()


async def test_rows_are_read_as_text(schema: Schema) -> None:
    await schema.run(
        "INSERT INTO customers VALUES ('a', 'https://a', true, 'gold'), ('b', NULL, false, NULL), ('c', '', NULL, '💥')"
    )
    rows = await schema.source().read(COLUMNS)
    assert rows.active == (Row("a", "https://a", "true", {"plan": "gold"}),)
    assert rows.inactive == {"b", "c"}


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("BIT(1)", "B'1'", "1"),
        ("INT", "42", "42"),
        ("NUMERIC(6,2)", "10.50", "10.50"),
        ("DOUBLE PRECISION", "1", "1"),
        ("TIMESTAMPTZ", "'2026-01-02 03:04:05+02'", "2026-01-02T01:04:05Z"),
        ("TIMESTAMP", "'2026-01-02 03:04:05.5'", "2026-01-02T03:04:05.5Z"),
        ("TIMESTAMPTZ", "'20000-01-02 03:04:05+00'", "20000-01-02T03:04:05Z"),
        ("TIMESTAMPTZ", "'infinity'", "infinity"),
        ("TIMESTAMP", "'0044-03-15 12:00:00 BC'", "0044-03-15 12:00:00 BC"),
        ("DATE", "'20000-01-02'", "20000-01-02"),
        ("CHAR(9)", "'gold'", "gold"),
        ("DATE", "'2026-01-02'", "2026-01-02"),
        ("JSONB", "'{\"a\": 1}'", '{"a": 1}'),
        ("UUID", "'00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"),
        ("TEXT[]", "ARRAY['a', 'b']", '["a","b"]'),
        ("INET", "'10.0.0.1'", "10.0.0.1"),
        ("BYTEA", "'raw'", "raw"),
        ("TEXT", r"E'a\tb\nc\\d'", "a\tb\nc\\d"),
        ("INT[]", "'{{1,2},{3,NULL}}'", "[[1,2],[3,null]]"),
        ("INT4RANGE", "'[1,5)'", "[1,5)"),
        ("information_schema.yes_or_no", "'YES'", "YES"),
        ("information_schema.time_stamp", "'2026-01-02 03:04:05+00'", "2026-01-02T03:04:05Z"),
    ],
)
async def test_every_type_has_a_text(schema: Schema, kind: str, value: str, text: str) -> None:
    await schema.run(f"CREATE TABLE typed (id INT, v {kind})", f"INSERT INTO typed VALUES (1, {value})")
    rows = await schema.source(table=f"{schema.name}.typed").read(Columns("id", "v", "id"))
    assert rows.active[0].host_or_url == text


async def test_user_defined_types_have_a_text(schema: Schema) -> None:
    await schema.run(
        "CREATE TYPE plan AS ENUM ('gold', 'silver')",
        "CREATE TYPE place AS (city TEXT, zip INT)",
        "CREATE DOMAIN flag AS BOOLEAN",
        "CREATE DOMAIN live AS flag",
        "CREATE TABLE typed (id INT, v plan, w place, active live)",
        "INSERT INTO typed VALUES (1, 'gold', ROW('Ulm', 89073), true)",
    )
    rows = await schema.source(table=f"{schema.name}.typed").read(Columns("id", "v", "active", (("w", "w"),)))
    assert (rows.active[0].host_or_url, rows.active[0].extra["w"]) == ("gold", '{"city":"Ulm","zip":89073}')


async def test_truncated_column_names_keep_their_type(schema: Schema) -> None:
    long = "ü" * 40
    await schema.run(f'CREATE TABLE typed (id INT, "{long}" BOOLEAN)', "INSERT INTO typed VALUES (1, true)")
    rows = await schema.source(table=f"{schema.name}.typed").read(Columns("id", "id", long))
    assert rows.active[0].activate == "true"


async def test_a_table_that_is_too_large_ends_the_read(schema: Schema) -> None:
    await schema.many(2000)
    source = schema.source()
    source._environment = SourceEnvironment(table_bytes=100_000)
    with pytest.raises(BrokenRead, match="read a view"):
        await source.read(COLUMNS)


async def test_a_row_that_is_too_large_is_rejected_and_the_others_arrive(schema: Schema) -> None:
    await schema.run(
        "INSERT INTO customers VALUES ('a', 'https://a', true, ''), ('b', repeat('x', 1048576), true, '')",
        "INSERT INTO customers VALUES (E'c\\td', repeat('x', 70000000), true, ''), ('e', 'https://e', false, '')",
        "INSERT INTO customers VALUES (NULL, repeat('x', 2000000), true, '')",
        "INSERT INTO customers VALUES (repeat('f', 5000), repeat('x', 2000000), true, '')",
    )
    rows = await schema.source().read(COLUMNS)
    assert [row.uid for row in rows.active] == ["a"]
    assert rows.inactive == {"e"}
    assert [row.uid for row in rows.rejected] == ["b", "c\td", "", "f" * 254]
    assert "more than 1048576 bytes together: shorten them" in rows.rejected[1].reason
    assert "its uid is NULL" in rows.rejected[2].reason
    assert "its uid is longer" in rows.rejected[3].reason


async def test_notices_of_a_view_do_not_end_the_read(schema: Schema) -> None:
    """The server does not send them."""
    await schema.run(
        """CREATE FUNCTION noisy(text) RETURNS text LANGUAGE plpgsql AS
        $$BEGIN RAISE WARNING '%', repeat('n', 100000); RETURN $1; END$$""",
        'CREATE VIEW loud AS SELECT noisy(id) AS id, url, active, "plan id" FROM customers',
    )
    await schema.many(100)
    assert (await schema.source(table=f"{schema.name}.loud").read(COLUMNS)).total == 100


async def test_a_view_can_be_read(schema: Schema) -> None:
    await schema.run("CREATE VIEW everyone AS SELECT * FROM customers")
    await schema.many(3)
    assert (await schema.source(table=f"{schema.name}.everyone").read(COLUMNS)).total == 3


async def test_ten_thousand_rows_arrive(schema: Schema) -> None:
    await schema.many(10_000)
    assert len({row.uid for row in (await schema.source().read(COLUMNS)).active}) == 10_000


@pytest.mark.parametrize(
    ("changes", "columns", "expected"),
    [
        ({"table": "nothing"}, COLUMNS, WrongTable),
        ({"table": "nothing.customers"}, COLUMNS, WrongTable),
        ({"database": "nothing"}, COLUMNS, WrongTable),
        ({}, Columns("gone", "url", "active"), WrongTable),
        ({"username": "nobody"}, COLUMNS, AccessDenied),
        ({"port": 1}, COLUMNS, SourceUnreachable),
        ({"host": "no-such-host.invalid"}, COLUMNS, SourceUnreachable),
        ({"tls": Tls(mode="require")}, COLUMNS, TlsFailed),
        ({"tls": Tls(mode="verify-full")}, COLUMNS, TlsFailed),
    ],
)
async def test_each_failure_has_its_error_type(
    schema: Schema, changes: dict[str, Any], columns: Columns, expected: type[Exception]
) -> None:
    with pytest.raises(expected) as caught:
        await schema.source(**changes).read(columns)
    assert str(caught.value).startswith("postgres ")
    assert schema.server.password not in str(caught.value)


async def test_prefer_reads_from_a_server_without_tls(schema: Schema) -> None:
    await schema.many(1)
    assert (await schema.source(tls=Tls(mode="prefer")).read(COLUMNS)).total == 1


async def test_no_password_is_read_from_the_environment(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", schema.server.password)
    source = schema.source()
    source._credentials = SourceCredentials()
    with pytest.raises(AccessDenied):
        await source.read(COLUMNS)


async def test_a_slow_query_is_stopped_by_the_server(schema: Schema) -> None:
    await schema.run("CREATE VIEW slow AS SELECT pg_sleep(30)::text AS id, 1 AS url, 1 AS active")
    with pytest.raises(BrokenRead, match="longer than 1s; raise queryTimeout"):
        await schema.source(table=f"{schema.name}.slow", query_timeout="1s").read(
            Columns("id", "url", "active")
        )


async def test_the_session_cannot_write(schema: Schema) -> None:
    await schema.run(
        "CREATE TABLE log (id INT)",
        f"CREATE FUNCTION noisy() RETURNS INT LANGUAGE sql AS 'INSERT INTO {schema.name}.log VALUES (1) RETURNING id'",
        "CREATE VIEW sly AS SELECT noisy() AS id, 1 AS url, 1 AS active",
    )
    with pytest.raises(BrokenRead, match="read-only transaction"):
        await schema.source(table=f"{schema.name}.sly").read(Columns("id", "url", "active"))


async def test_every_cut_of_a_response_is_an_error(schema: Schema) -> None:
    """For every byte after which the connection ends: all rows or an error, never a part."""
    await schema.many(20)
    async with cutting_proxy("127.0.0.1", schema.server.port) as proxy:
        assert (await schema.source(port=proxy.port).read(COLUMNS)).total == 20
        for budget in range(0, proxy.passed, 197):
            proxy.passed, proxy.budget = 0, budget
            with pytest.raises((BrokenRead, SourceUnreachable)):
                await schema.source(port=proxy.port).read(COLUMNS)


async def test_a_response_that_stops_is_ended_by_the_timeout_of_the_reader(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.tenants.sources.postgres.GRACE_SECONDS", 0.0)
    await schema.many(200)
    async with cutting_proxy("127.0.0.1", schema.server.port) as proxy:
        proxy.budget, proxy.holds = 5000, True
        with pytest.raises(BrokenRead, match="longer than 1s"):
            await schema.source(port=proxy.port, query_timeout="1s").read(COLUMNS)


@pytest.mark.parametrize("value", VALUES)
async def test_a_condition_finds_exactly_the_rows_with_its_value(schema: Schema, value: str) -> None:
    await schema.add_values()
    found = await schema.source().read(conditions.columns(ColumnCondition("plan id", (value,))))
    assert conditions.read_uids(found) == conditions.uids(value)
    others = await schema.source().read(
        conditions.columns(ColumnCondition("plan id", (value,), is_negated=True))
    )
    assert len(conditions.read_uids(others)) == len(VALUES) + 1 - len(conditions.uids(value))


@pytest.mark.parametrize(
    ("column", "value", "count"),
    [
        ("active", "true", 2),
        ("active", "t", 0),
        ("n", "7", 1),
        ("n", "07", 0),
        ("padded", "a", 1),
        ("gone", "", 0),
    ],
)
async def test_a_condition_compares_the_text_of_any_type(
    schema: Schema, column: str, value: str, count: int
) -> None:
    await schema.run(
        "ALTER TABLE customers ADD n INT, ADD padded CHAR(5)",
        "INSERT INTO customers VALUES ('a', '', true, '', 7, 'a'), ('b', '', true, '', 8, 'b')",
    )
    read = schema.source().read(conditions.columns(ColumnCondition(column, (value,))))
    if column == "gone":
        with pytest.raises(WrongTable, match="gone"):
            await read
    else:
        assert len((await read).active) == count
