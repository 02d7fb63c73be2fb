"""What a real MariaDB server cannot show: the login of MySQL 8, TLS, and a hostile server."""

import ssl
from pathlib import Path

import pytest

from steward.tenants.api.scalars import TlsMode
from steward.tenants.api.source import MySqlSource, Tls
from steward.tenants.errors import AccessDenied, BrokenRead, SourceUnreachable, TlsFailed
from steward.tenants.sources.mysql import MySqlReader
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Columns, Rows
from tests.tenants.sources.support.certificates import Authority
from tests.tenants.sources.support.mysql_server import MySqlServer, mysql_server

PASSWORD = "s3cret-Ü"
COLUMNS = Columns("id", "url", "active")


async def read(
    server: MySqlServer,
    mode: TlsMode = "disable",
    credentials: SourceCredentials | None = None,
    host: str = "127.0.0.1",
) -> Rows:
    source = MySqlSource(
        host=host, port=server.port, username="reader", database="saas", table="customers", tls=Tls(mode=mode)
    )
    return await MySqlReader(source, credentials or SourceCredentials(PASSWORD)).read(COLUMNS)


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
    credentials = SourceCredentials(PASSWORD, authority.certificate)
    with mysql_server(MySqlServer(PASSWORD, tls)) as server:
        assert (await read(server, mode, credentials)).total == 2
        assert server.login == "tls"


async def test_a_wrong_password_is_a_denial() -> None:
    with mysql_server(MySqlServer(PASSWORD)) as server, pytest.raises(AccessDenied):
        await read(server, credentials=SourceCredentials("wrong"))


async def test_a_line_break_after_the_password_is_mentioned_when_it_is_denied() -> None:
    denied = pytest.raises(AccessDenied, match="passwordRef \\(its value ends with a line break\\)")
    with mysql_server(MySqlServer(PASSWORD)) as server, denied:
        await read(server, credentials=SourceCredentials(f"{PASSWORD}\n"))


async def test_a_server_with_an_unknown_certificate_gets_no_password(tls: ssl.SSLContext) -> None:
    with mysql_server(MySqlServer(PASSWORD, tls)) as server:
        with pytest.raises(TlsFailed):
            await read(server, "verify-full", SourceCredentials(PASSWORD, Authority().certificate))
        assert server.login == ""


@pytest.mark.parametrize("mode", ["disable", "prefer"])
@pytest.mark.parametrize("login", [b"mysql_clear_password", b"dialog", b"mysql_old_password"])
async def test_no_server_gets_the_password_in_clear_text_without_tls(login: bytes, mode: TlsMode) -> None:
    unspoken = pytest.raises(AccessDenied, match=r"not encrypted; .* tls\.mode: require")
    with mysql_server(MySqlServer(PASSWORD, asks_for=login)) as server, unspoken:
        await read(server, mode)
    assert server.received == []


async def test_an_unsupported_login_is_named(tls: ssl.SSLContext) -> None:
    unspoken = pytest.raises(AccessDenied, match="ed25519")
    with mysql_server(MySqlServer(PASSWORD, tls, asks_for=b"client_ed25519")) as server, unspoken:
        await read(server, "require")


async def test_too_many_connections_is_not_reported_as_missing_tls(tls: ssl.SSLContext) -> None:
    full = pytest.raises(SourceUnreachable, match="Too many connections")
    with mysql_server(MySqlServer(PASSWORD, tls, refuses_with=1040)) as server, full:
        await read(server, "require")


async def test_only_verify_full_checks_the_host_name(authority: Authority, tls: ssl.SSLContext) -> None:
    credentials = SourceCredentials(PASSWORD, authority.certificate)
    with mysql_server(MySqlServer(PASSWORD, tls)) as server:
        assert (await read(server, "verify-ca", credentials, host="localhost")).total == 2
        with pytest.raises(TlsFailed):
            await read(server, "verify-full", credentials, host="localhost")


async def test_a_server_that_requests_a_file_gets_nothing() -> None:
    with mysql_server(MySqlServer(PASSWORD, answer="file")) as server:
        with pytest.raises(BrokenRead):
            await read(server)
        assert b"".join(server.received).find(b"root:") == -1
        assert server.statements[-1].startswith("SELECT")


@pytest.mark.parametrize("answer", ["short", "narrow", "few", "again", "error", "changed"])
async def test_an_incomplete_result_is_an_error(answer: str) -> None:
    with mysql_server(MySqlServer(PASSWORD, answer=answer)) as server, pytest.raises(BrokenRead):
        await read(server)


async def test_mysql_gets_its_own_limits_and_a_read_only_snapshot() -> None:
    with mysql_server(MySqlServer(PASSWORD)) as server:
        await read(server)
    assert [statement for statement in server.statements if not statement.startswith("SET AUTOCOMMIT")] == [
        "SET SESSION max_execution_time = 30000, SESSION time_zone = '+00:00', "
        "SESSION sql_select_limit = 18446744073709551615, "
        "SESSION character_set_client = utf8mb4, SESSION character_set_results = utf8mb4",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        "SELECT `id`, `url`, `active` FROM `customers`",
        "COMMIT",
    ]
