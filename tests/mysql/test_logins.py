"""Logins of a real MySQL server: `caching_sha2_password`, with and without TLS.

The first login of an account needs its password, encrypted with TLS or with the RSA key of the server; later ones a
hash, which the server has cached. `FLUSH PRIVILEGES` empties that cache.
"""

import secrets
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import asyncmy
import pytest

from steward.tenants.api.source import MySqlSource, Tls
from steward.tenants.errors import AccessDenied, SourceError, TlsFailed
from steward.tenants.sources.mysql import MySqlReader
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Columns
from tests.support.database_servers import DatabaseServer
from tests.tenants.sources.support.certificates import Authority
from tests.tenants.sources.support.tables import source_fields

PLUGIN = "caching_sha2_password"
COLUMNS = Columns("id", "url", "active")
ENCRYPTED, PLAIN, VERIFIED = Tls(mode="require"), Tls(mode="disable"), Tls(mode="verify-full")


class Account(NamedTuple):
    """An account that may read one table of a server."""

    server: DatabaseServer
    connection: Any
    name: str
    password: str

    async def run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.cursor()
        await cursor.execute(statement)
        return list(await cursor.fetchall())

    async def read(self, tls: Tls, password: str = "", authority: bytes = b"") -> list[str]:
        fields = source_fields(
            self.server, username=self.name, database=self.name, table="customers", tls=tls
        )
        credentials = SourceCredentials(password or self.password, authority)
        rows = await MySqlReader(MySqlSource(**fields), credentials).read(COLUMNS)
        return [row.uid for row in rows.active]


@pytest.fixture(params=["short", "a pässword with ' and 20 ünusual characters ✓"])
async def account(request: pytest.FixtureRequest, tls_server: DatabaseServer) -> AsyncIterator[Account]:
    name, password = f"u{secrets.token_hex(4)}", request.param
    connection = await asyncmy.connect(
        host="127.0.0.1",
        port=tls_server.port,
        user=tls_server.user,
        password=tls_server.password,
        autocommit=True,
    )
    found = Account(tls_server, connection, name, password)
    quoted = password.replace("'", "''")
    for statement in (
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.customers AS SELECT 'acme' AS id, 'https://acme' AS url, 1 AS active",
        f"CREATE USER {name} IDENTIFIED WITH {PLUGIN} BY '{quoted}'",
        f"GRANT SELECT ON {name}.* TO {name}",
    ):
        await found.run(statement)
    yield found
    await found.run(f"DROP USER {name}")
    await found.run(f"DROP DATABASE {name}")
    await connection.ensure_closed()


async def test_the_server_is_mysql_and_this_is_its_own_login_method(account: Account) -> None:
    [(version, default)] = await account.run("SELECT VERSION(), @@authentication_policy")
    assert "mariadb" not in version.lower()
    [(plugin,)] = await account.run(f"SELECT plugin FROM mysql.user WHERE user = '{account.server.user}'")
    assert (plugin, default.split(",")[0]) == (PLUGIN, "*")


@pytest.mark.parametrize("tls", [ENCRYPTED, PLAIN], ids=["encrypted", "plain"])
async def test_a_first_and_a_cached_login_read_the_rows(account: Account, tls: Tls) -> None:
    await account.run("FLUSH PRIVILEGES")
    assert await account.read(tls) == ["acme"]
    assert await account.read(tls) == ["acme"]


@pytest.mark.parametrize("tls", [ENCRYPTED, PLAIN], ids=["encrypted", "plain"])
@pytest.mark.parametrize("is_cached", [True, False])
async def test_a_wrong_password_is_denied(account: Account, tls: Tls, is_cached: bool) -> None:
    await account.run("FLUSH PRIVILEGES")
    if is_cached:
        await account.read(tls)
    with pytest.raises(AccessDenied) as caught:
        await account.read(tls, password="wr0ng-password")
    assert "wr0ng-password" not in str(caught.value)


async def test_the_certificate_of_the_server_is_verified(account: Account, authority: Authority) -> None:
    assert await account.read(VERIFIED, authority=authority.certificate) == ["acme"]
    with pytest.raises(TlsFailed):
        await account.read(VERIFIED, authority=Authority().certificate)


async def test_an_account_that_requires_tls_is_denied_without_it(account: Account) -> None:
    await account.run(f"ALTER USER {account.name} REQUIRE SSL")
    assert await account.read(ENCRYPTED) == ["acme"]
    with pytest.raises(SourceError):
        await account.read(PLAIN)
