"""One real PostgreSQL server that stands for all servers of a cluster: the operator reaches it under their names."""

import asyncio
import secrets
from typing import Any

import asyncpg

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from tests.support import data_planes
from tests.support.database_servers import DatabaseServer
from tests.support.kubectl import Kubectl

PASSWORD = secrets.token_hex(8)
SECRET = "superuser"
REFERENCE = {"postgresPasswordSecretRef": {"name": SECRET}}
"""Of a cluster whose superuser has the password above."""
SERVERS = 2


def execute(server: DatabaseServer, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(
            host=server.host,
            port=server.port,
            user=server.user,
            password=server.password,
            database="postgres",
        )
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())


def create_superuser(server: DatabaseServer, kubectl: Kubectl, namespace: str) -> None:
    """The role `postgres`, and the Secret with its password."""
    metadata = {"name": SECRET, "namespace": namespace}
    secret: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    kubectl("create", "-f", "-", document={**secret, "stringData": {"password": PASSWORD}})
    execute(server, f"CREATE ROLE postgres SUPERUSER LOGIN PASSWORD '{PASSWORD}'")


def drop_superuser(server: DatabaseServer) -> None:
    execute(server, "DROP ROLE postgres")


def connect_to(
    control_plane: ControlPlane, server: DatabaseServer, namespace: str, clusters: list[str], pool: str
) -> str:
    """The operator's setting: to the server, and to the fake data plane for everything else."""
    hosts = [host for cluster in clusters for host in _hosts(cluster, namespace, pool)]
    forwards = [f"{host}:5432:{server.host}:{server.port}" for host in hosts]
    return ",".join([data_planes.connect_to(control_plane), *forwards])


def _hosts(cluster: str, namespace: str, pool: str) -> list[str]:
    path = names.ShardPath(cluster, "postgres", "default", "0-inf")
    service, set_name = names.pool_headless(path, pool, "z1"), names.pool(path, pool, "z1")
    return [f"{set_name}-{number}.{service}.{namespace}.svc.cluster.local" for number in range(SERVERS)]
