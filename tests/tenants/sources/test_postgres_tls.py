"""TLS against a real PostgreSQL server: whom we believe, and whom we do not."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from steward.tenants.api.scalars import TlsMode
from steward.tenants.api.source import PostgresSource, Tls
from steward.tenants.errors import BadSource, TlsFailed
from steward.tenants.sources.postgres import Postgres
from steward.tenants.sources.rows import Columns, Rows
from steward.tenants.sources.source import Credentials
from tests.support.database_servers import DatabaseServer
from tests.tenants.sources.support.certificates import Authority
from tests.tenants.sources.support.postgres_over_tls import speaking_tls

COLUMNS = Columns("id", "url", "active")


@dataclass
class TlsServer:
    server: DatabaseServer
    authority: Authority
    view: str

    async def read(self, mode: TlsMode, credentials: Credentials, host: str = "127.0.0.1") -> Rows:
        source = PostgresSource(
            host=host,
            port=self.server.port,
            username=self.server.user,
            database="postgres",
            table=self.view,
            tls=Tls(mode=mode),
        )
        return await Postgres(source, credentials._replace(password=self.server.password)).read(COLUMNS)


@pytest.fixture
async def tls_server(postgres: DatabaseServer) -> AsyncIterator[TlsServer]:
    """The shared server with TLS switched on for one test: it takes certificates without a restart."""
    authority = Authority()
    view = f"tls_{secrets.token_hex(4)}"
    async with speaking_tls(postgres, authority) as connection:
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
    rows = await tls_server.read(mode, Credentials(authority=tls_server.authority.certificate))
    assert rows.active[0].host_or_url == is_encrypted


@pytest.mark.parametrize("mode", ["verify-ca", "verify-full"])
async def test_a_stranger_is_not_believed(tls_server: TlsServer, mode: TlsMode) -> None:
    with pytest.raises(TlsFailed, match=r"correct tls\.mode or tls\.caRef"):
        await tls_server.read(mode, Credentials(authority=Authority().certificate))


async def test_only_verify_full_asks_for_the_name(tls_server: TlsServer) -> None:
    credentials = Credentials(authority=tls_server.authority.certificate)
    assert (await tls_server.read("verify-ca", credentials, host="localhost")).total == 1
    with pytest.raises(TlsFailed):
        await tls_server.read("verify-full", credentials, host="localhost")


async def test_a_client_certificate_is_presented(tls_server: TlsServer) -> None:
    pem = tls_server.authority.issue("reader")
    credentials = Credentials("", tls_server.authority.certificate, pem.certificate, pem.key)
    assert (await tls_server.read("verify-full", credentials)).total == 1


@pytest.mark.parametrize(
    "credentials", [Credentials(authority=b"nonsense"), Credentials(certificate=b"nonsense", key=b"nonsense")]
)
async def test_a_secret_without_certificates_is_told_before_connecting(
    tls_server: TlsServer, credentials: Credentials
) -> None:
    with pytest.raises(BadSource, match="caRef or clientCertificateRef"):
        await tls_server.read("verify-full", credentials)
