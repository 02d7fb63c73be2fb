"""A MySQL server with TLS for the run."""

from collections.abc import Iterator

import pytest

from tests.support.database_servers import DatabaseServer
from tests.support.mysql_server import mysql_server, unpacked_mysql
from tests.tenants.sources.support.certificates import Authority


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="session")
def tls_server(authority: Authority) -> Iterator[DatabaseServer]:
    pem = authority.issue("server")
    files = {"ssl-ca": authority.certificate, "ssl-cert": pem.certificate, "ssl-key": pem.key}
    with unpacked_mysql() as root, mysql_server(root, files) as server:
        yield server
