"""TLS to real databases: CA and client certificate come from Secrets, and an untrusted server is rejected."""

import asyncio
import base64
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import asyncmy
import pytest

from steward.local.control_plane import ControlPlane
from tests.support.database_servers import DatabaseServer, mariadb_server
from tests.support.kubectl import Kubectl
from tests.tenants.sources.support.certificates import Authority, Pem
from tests.tenants.sources.support.postgres_over_tls import with_tls
from tests.tenants.support.customers import World, config_template, until
from tests.tenants.support.manifests import Manifest, registry
from tests.tenants.support.operator import running_operator

pytestmark = pytest.mark.timeout(1200)

READER = "reader"
DATABASES = ("mysql", "postgres")
DATABASE = f"tls_{secrets.token_hex(4)}"
PASSWORD = secrets.token_hex(8)


def _secret(name: str, **data: bytes) -> Manifest:
    encoded = {key.replace("_", "."): base64.b64encode(value).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded}


def _registry(kind: str, server: DatabaseServer) -> Manifest:
    source = {
        "host": "127.0.0.1", "port": server.port, "username": DATABASE,
        "database": DATABASE if kind == "mysql" else "postgres", "table": DATABASE,
        "passwordRef": {"name": "db", "key": "password"},
        "tls": {
            "mode": "verify-full",
            "caRef": {"name": "trust", "key": "ca.crt"},
            "clientCertificateRef": {"name": READER},
        },
    }  # fmt: skip
    return registry(kind, source={"type": kind, "syncInterval": "1h", kind: source})


class Servers(NamedTuple):
    authority: Authority
    mysql: DatabaseServer
    postgres: DatabaseServer


async def _run(server: DatabaseServer, *statements: str) -> None:
    connection = await asyncmy.connect(
        host="127.0.0.1", port=server.port, user=server.user, password=server.password, autocommit=True
    )
    cursor = connection.cursor()
    for statement in statements:
        await cursor.execute(statement)
    await connection.ensure_closed()
    await asyncio.sleep(0)


@pytest.fixture
def servers(postgres: DatabaseServer) -> Iterator[Servers]:
    """Both check the client certificate: one admits no other client, the other returns its name in the row."""
    authority = Authority()
    pem = authority.issue("server")
    files = {"ssl-ca": authority.certificate, "ssl-cert": pem.certificate, "ssl-key": pem.key}
    loop = asyncio.new_event_loop()
    spoken = with_tls(postgres, authority)
    with mariadb_server(files) as mariadb:
        connection = loop.run_until_complete(spoken.__aenter__())
        loop.run_until_complete(_run(
            mariadb,
            f"CREATE DATABASE {DATABASE}",
            f"CREATE VIEW {DATABASE}.{DATABASE} AS SELECT 'acme' AS id, '{READER}' AS url, '1' AS active",
            f"CREATE USER {DATABASE} IDENTIFIED BY '{PASSWORD}' REQUIRE SUBJECT '/CN={READER}'",
            f"GRANT SELECT ON {DATABASE}.* TO {DATABASE}",
        ))  # fmt: skip
        for statement in (
            f"CREATE VIEW {DATABASE} AS SELECT 'acme' AS id, 1 AS active, "
            "(SELECT client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS url",
            f"CREATE USER {DATABASE} PASSWORD '{PASSWORD}'",
            f"GRANT SELECT ON {DATABASE} TO {DATABASE}",
        ):
            loop.run_until_complete(connection.execute(statement))
        yield Servers(authority, mariadb, postgres)
        loop.run_until_complete(connection.execute(f"DROP VIEW {DATABASE}; DROP USER {DATABASE}"))
        loop.run_until_complete(spoken.__aexit__(None, None, None))
    loop.close()


def test_an_untrusted_server_is_rejected_until_the_secret_has_its_ca(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, servers: Servers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    client: Pem = servers.authority.issue(READER)
    with running_operator(control_plane, namespace, tmp_path / "operator.log"):
        world.apply(
            _secret("db", password=PASSWORD.encode()),
            _secret(READER, tls_crt=client.certificate, tls_key=client.key),
            _secret("trust", ca_crt=Authority().certificate),
            *(_registry(kind, getattr(servers, kind)) for kind in DATABASES),
            *(
                config_template(f"of-{kind}", registryId=kind, configMaps=[_config(kind)])
                for kind in DATABASES
            ),
        )
        for kind in DATABASES:
            _until_rejected(world, kind)
        assert world.tenants() == {}

        world.apply(_secret("trust", ca_crt=servers.authority.certificate))
        for kind in DATABASES:
            assert READER in _until_read(world, kind)


def _until_rejected(world: World, kind: str) -> None:
    until(
        lambda: "tls.caRef" in world.condition("SourceReachable", name=kind)["message"],
        lambda: world.status(name=kind),
    )


def _until_read(world: World, kind: str) -> str:
    """The client that the database authenticated."""
    found = until(lambda: world.get("configmap", f"acme-{kind}"), lambda: world.status(name=kind))
    return str(found["data"]["client"])


def _config(kind: str) -> Manifest:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"client": "{{ .hostOrUrl }}"}}
    return {"id": "config", "nameTemplate": "{{ .uid }}-" + kind, "spec": body}
