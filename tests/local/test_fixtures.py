"""The session fixtures of tests/conftest.py."""

from __future__ import annotations

import asyncmy
import asyncpg

from steward.local.control_plane import ControlPlane
from tests.local.support.cluster_access import Cluster
from tests.support.database_servers import DatabaseServer


async def test_pods_can_run_in_a_new_namespace(control_plane: ControlPlane, namespace: str) -> None:
    cluster = Cluster(control_plane)
    await cluster.create(f"/api/v1/namespaces/{namespace}/pods", pod("one"))
    await cluster.wait(
        f"/api/v1/namespaces/{namespace}/pods/one", lambda p: p["status"]["phase"] == "Running"
    )


def pod(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}


async def test_mariadb_answers_over_tcp(mariadb: DatabaseServer) -> None:
    connection = await asyncmy.connect(
        host=mariadb.host, port=mariadb.port, user=mariadb.user, password=mariadb.password
    )
    try:
        async with connection.cursor() as cursor:
            await cursor.execute("SELECT VERSION()")
            (version,) = await cursor.fetchone()
    finally:
        await connection.ensure_closed()
    assert "MariaDB" in version


async def test_postgres_answers_over_tcp(postgres: DatabaseServer) -> None:
    connection = await asyncpg.connect(
        host=postgres.host,
        port=postgres.port,
        user=postgres.user,
        password=postgres.password,
        database="postgres",
    )
    try:
        version = await connection.fetchval("SELECT version()")
    finally:
        await connection.close()
    assert version.startswith("PostgreSQL")
