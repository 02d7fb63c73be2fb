"""TLS modes against a real PostgreSQL server."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from steward.tenants.api.scalars import TlsMode
from steward.tenants.api.source import PostgresSource, Tls
from steward.tenants.errors import BadSource, TlsFailed
from steward.tenants.sources.postgres import PostgresReader
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Columns, Rows
from tests.support.database_servers import DatabaseServer
from tests.tenants.sources.support.certificates import Authority
from tests.tenants.sources.support.postgres_over_tls import with_tls

COLUMNS = Columns("id", "url", "active")


@dataclass
class TlsServer:
    server: DatabaseServer
    authority: Authority
    view: str

    async def read(self, mode: TlsMode, credentials: SourceCredentials, host: str = "127.0.0.1") -> Rows:
        source = PostgresSource(
            host=host,
            port=self.server.port,
            username=self.server.user,
            database="postgres",
            table=self.view,
            tls=Tls(mode=mode),
        )
        return await PostgresReader(source, credentials._replace(password=self.server.password)).read(COLUMNS)


@pytest.fixture
async def tls_server(postgres: DatabaseServer) -> AsyncIterator[TlsServer]:
    """The shared server with TLS switched on for one test: it loads certificates without a restart."""
    authority = Authority()
    view = f"tls_{secrets.token_hex(4)}"
    async with with_tls(postgres, authority) as connection:
        await connection.execute(
            f"CREATE VIEW {view} AS SELECT 'a' AS id, 1 AS active, "
            "(SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS url"
        )
        yield TlsServer(postgres, authority, view)
        await connection.execute(f"DROP VIEW {view}")


@pytest.mark.parametrize(
    ("mode", "is_encrypted"),
    [
        ("disable", "false"),
        ("prefer", "true"),
        ("require", "true"),
        ("verify-ca", "true"),
        ("verify-full", "true"),
    ],
)
async def test_a_mode_encrypts_or_does_not(tls_server: TlsServer, mode: TlsMode, is_encrypted: str) -> None:
    rows = await tls_server.read(mode, SourceCredentials(authority=tls_server.authority.certificate))
    assert rows.active[0].host_or_url == is_encrypted


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
async def test_a_server_with_an_unknown_certificate_is_rejected(tls_server: TlsServer, mode: TlsMode) -> None:
    with pytest.raises(TlsFailed, match=r"correct tls\.mode or tls\.caRef"):
        await tls_server.read(mode, SourceCredentials(authority=Authority().certificate))


async def test_only_verify_full_checks_the_host_name(tls_server: TlsServer) -> None:
    credentials = SourceCredentials(authority=tls_server.authority.certificate)
    assert (await tls_server.read("verify-ca", credentials, host="localhost")).total == 1
    with pytest.raises(TlsFailed):
        await tls_server.read("verify-full", credentials, host="localhost")


async def test_a_client_certificate_is_presented(tls_server: TlsServer) -> None:
    pem = tls_server.authority.issue("reader")
    credentials = SourceCredentials("", tls_server.authority.certificate, pem.certificate, pem.key)
    assert (await tls_server.read("verify-full", credentials)).total == 1


@pytest.mark.parametrize(
    "credentials",
    [SourceCredentials(authority=b"nonsense"), SourceCredentials(certificate=b"nonsense", key=b"nonsense")],
)
async def test_a_secret_without_certificates_is_reported_before_connecting(
    tls_server: TlsServer, credentials: SourceCredentials
) -> None:
    with pytest.raises(BadSource, match="caRef or clientCertificateRef"):
        await tls_server.read("verify-full", credentials)
