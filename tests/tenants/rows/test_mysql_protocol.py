"""What a real MariaDB cannot show: MySQL 8's way of logging in, TLS, and a server that lies."""

import ssl
from pathlib import Path

import pytest

from steward.tenants.api.scalars import TlsMode
from steward.tenants.api.source import MySqlSource, Tls
from steward.tenants.errors import AccessDenied, BrokenRead, TlsFailed
from steward.tenants.rows.mysql import MySql
from steward.tenants.rows.row import Columns, Rows
from steward.tenants.rows.source import Credentials
from tests.tenants.rows.certificates import Authority
from tests.tenants.rows.mysql_server import MySqlServer, mysql_server

PASSWORD = "s3cret-Ü"
COLUMNS = Columns("id", "url", "active")


async def read(
    server: MySqlServer,
    mode: TlsMode = "disable",
    credentials: Credentials | None = None,
    host: str = "127.0.0.1",
) -> Rows:
    source = MySqlSource(
        host=host, port=server.port, username="reader", database="saas", table="customers", tls=Tls(mode=mode)
    )
    return await MySql(source, credentials or Credentials(PASSWORD)).read(COLUMNS)


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def tls(authority: Authority, tmp_path: Path) -> ssl.SSLContext:
    pem = authority.issue("server")
    (tmp_path / "server.pem").write_bytes(pem.certificate + pem.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    return context


@pytest.mark.parametrize(("is_cached", "login"), [(False, "rsa"), (True, "fast")])
async def test_caching_sha2_password_without_tls(is_cached: bool, login: str) -> None:
    with mysql_server(MySqlServer(PASSWORD, is_cached=is_cached)) as server:
        assert (await read(server)).total == 2
        assert server.login == login


@pytest.mark.parametrize("mode", ["prefer", "require", "verify-ca", "verify-full"])
async def test_caching_sha2_password_over_tls(
    authority: Authority, tls: ssl.SSLContext, mode: TlsMode
) -> None:
    credentials = Credentials(PASSWORD, authority.certificate)
    with mysql_server(MySqlServer(PASSWORD, tls)) as server:
        assert (await read(server, mode, credentials)).total == 2
        assert server.login == "tls"


async def test_a_wrong_password_is_a_denial() -> None:
    with mysql_server(MySqlServer(PASSWORD)) as server, pytest.raises(AccessDenied):
        await read(server, credentials=Credentials("wrong"))


async def test_a_stranger_gets_no_password(tls: ssl.SSLContext) -> None:
    with mysql_server(MySqlServer(PASSWORD, tls)) as server:
        with pytest.raises(TlsFailed):
            await read(server, "verify-full", Credentials(PASSWORD, Authority().certificate))
        assert server.login == ""


async def test_only_verify_full_asks_for_the_name(authority: Authority, tls: ssl.SSLContext) -> None:
    credentials = Credentials(PASSWORD, authority.certificate)
    with mysql_server(MySqlServer(PASSWORD, tls)) as server:
        assert (await read(server, "verify-ca", credentials, host="localhost")).total == 2
        with pytest.raises(TlsFailed):
            await read(server, "verify-full", credentials, host="localhost")


async def test_a_server_that_asks_for_our_files_gets_nothing() -> None:
    with mysql_server(MySqlServer(PASSWORD, answer="file")) as server:
        with pytest.raises(BrokenRead):
            await read(server)
        assert b"".join(server.received).find(b"root:") == -1
        assert server.statements[-1].startswith("SELECT")


async def test_rows_without_an_end_are_no_rows() -> None:
    with mysql_server(MySqlServer(PASSWORD, answer="short")) as server, pytest.raises(BrokenRead):
        await read(server)


async def test_mysql_gets_its_own_limits_and_a_read_only_snapshot() -> None:
    with mysql_server(MySqlServer(PASSWORD)) as server:
        await read(server)
    assert [statement for statement in server.statements if not statement.startswith("SET AUTOCOMMIT")] == [
        "SET SESSION max_execution_time = 30000, SESSION time_zone = '+00:00'",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        "SELECT `id`, `url`, `active` FROM `customers`",
        "COMMIT",
    ]
