"""Operating a cluster of real Postgres servers: passwords, roles, settings, metrics, hibernation, deletion protection.

Needs STEWARD_DATA_PLANE, as test_data_plane.py.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import urllib.request
from functools import partial
from typing import Any

import asyncpg
import pytest

from steward.multigres import names
from tests.e2e.support.database_cluster import LITTLE, DatabaseCluster
from tests.e2e.support.password_client import LoginCounts, counted_logins
from tests.e2e.support.planned_changes import Record, enough_writes, planned_change, start
from tests.e2e.support.writer import Endpoint, counted_writes, stored_rows

ONE_CELL = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}
POSTGRES = "/spec/databases/0/tablegroups/0/shards/0/spec/postgres"
NEW_PASSWORD = "another-password-of-the-superuser"
GATEWAY_METRICS, POOLER_METRICS, EXPORTER_METRICS = 9464, 9465, 9187
LONGEST_GAP_SECONDS = 1.0


async def value(endpoint: Endpoint, query: str) -> Any:
    connection = await endpoint.connect()
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def server_settings(database: DatabaseCluster, name: str) -> set[str]:
    """The values that the servers of the shard have."""
    servers = await asyncio.to_thread(database.servers)
    return {str(await value(endpoint, f"SHOW {name}")) for endpoint in servers.values()}


async def wait_for_settings(database: DatabaseCluster, name: str, expected: str) -> float:
    """Seconds until all servers have the value, and the operator reports that they have read their settings."""

    def is_loaded() -> bool:
        condition = database.shard_condition("SettingsLoaded")
        generation = database.shard()["metadata"]["generation"]
        return condition.get("status") == "True" and condition.get("observedGeneration") == generation

    async with asyncio.timeout(300):
        while await server_settings(database, name) != {expected}:
            await asyncio.sleep(1)
    return await database.wait_for(is_loaded, "SettingsLoaded")


def pod_uids(database: DatabaseCluster) -> set[str]:
    return {pod["metadata"]["uid"] for pod in database.pods()}


async def enough_logins(counts: LoginCounts) -> None:
    target = len(counts.accepted) + 10
    while len(counts.accepted) < target:
        await asyncio.sleep(0.05)


def change_password(database: DatabaseCluster, password: str) -> None:
    encoded = base64.b64encode(password.encode()).decode()
    database.containers.kubectl(
        *("patch", "secret", names.password_secret(database.name), "-n", database.namespace),
        *("--type=merge", "-p", json.dumps({"data": {"password": encoded}})),
    )


async def test_a_changed_password_locks_clients_out_for_less_than_a_second(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    async with counted_logins(database_cluster) as counts:
        await enough_logins(counts)
        await asyncio.to_thread(change_password, database_cluster, NEW_PASSWORD)
        async with asyncio.timeout(120):
            while NEW_PASSWORD not in counts.accepted:
                await asyncio.sleep(0.05)
        await enough_logins(counts)
    record_property("logins", counts.describe())
    print(counts.describe())
    assert not counts.failures, counts.failures[:5]
    assert counts.longest_gap < LONGEST_GAP_SECONDS, counts.describe()


async def test_a_server_that_restarts_after_a_changed_password_streams_again(
    database_cluster: DatabaseCluster,
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    await asyncio.to_thread(change_password, database_cluster, NEW_PASSWORD)
    await database_cluster.wait_for(
        lambda: database_cluster.endpoint().password == NEW_PASSWORD, "the new password to be published"
    )
    primary = database_cluster.primary()
    standby = next(name for pod in database_cluster.pods() if (name := pod["metadata"]["name"]) != primary)
    before = pod_uids(database_cluster)
    database_cluster.containers.kubectl("delete", "pod", standby, "-n", database_cluster.namespace)

    def is_back() -> bool:
        states = database_cluster.shard()["status"].get("servers", [])
        is_ready = {"pod": standby, "state": "Ready"}.items()
        is_new = len(pod_uids(database_cluster) - before) == 1
        return is_new and any(is_ready <= each.items() for each in states) and database_cluster.is_settled()

    await database_cluster.wait_for(is_back, "the standby to stream again")


async def test_an_application_is_the_owner_of_its_database_and_no_superuser(
    database_cluster: DatabaseCluster,
) -> None:
    manifest = database_cluster.manifest(ONE_CELL, ("z1",))
    manifest["spec"]["applicationRole"] = "Owner"
    manifest["spec"]["databases"][0] |= {
        "ownerRole": "shop",
        "roles": [{"name": "reports", "memberOf": ["pg_read_all_data"]}],
    }
    database_cluster.apply(manifest)
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    await database_cluster.wait_for(
        lambda: database_cluster.endpoint().user == "shop", "the account of the owner"
    )
    application = database_cluster.endpoint()
    assert await value(application, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
    connection = await application.connect()
    try:
        await connection.execute("CREATE TABLE orders (id int)")
        await connection.execute("INSERT INTO orders VALUES (7)")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("CREATE ROLE intruder SUPERUSER")
    finally:
        await connection.close()
    await database_cluster.wait_for(
        lambda: "postgres/reports" in database_cluster.status().get("roleSecrets", {}), "the role's Secret"
    )
    reports = database_cluster.endpoint(database_cluster.status()["roleSecrets"]["postgres/reports"])
    assert await value(reports, "SELECT id FROM orders") == 7
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await value(reports, "DELETE FROM orders")
    superuser = database_cluster.endpoint(names.superuser_secret(database_cluster.name))
    assert await value(superuser, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is True


async def test_settings_follow_the_memory_of_the_pods(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    # A quarter and three quarters of 64Mi.
    assert await server_settings(database_cluster, "shared_buffers") == {"16MB"}
    assert await server_settings(database_cluster, "effective_cache_size") == {"48MB"}
    assert await server_settings(database_cluster, "work_mem") == {"148kB"}


async def test_a_setting_that_can_be_reloaded_restarts_no_server(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    before = pod_uids(database_cluster)
    for size in ("5MB", "6MB"):
        settings = {"settings": {"work_mem": size, "log_min_duration_statement": "500"}}
        database_cluster.patch([{"op": "add", "path": POSTGRES, "value": settings}])
        seconds = await wait_for_settings(database_cluster, "work_mem", size)
        record_property(f"seconds until {size}", round(seconds))
    assert pod_uids(database_cluster) == before
    assert await server_settings(database_cluster, "log_min_duration_statement") == {"500ms"}


async def test_a_setting_that_needs_a_restart_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    before = pod_uids(database_cluster)
    async with planned_change(database_cluster, record_property):
        settings = {"settings": {"max_connections": 130, "shared_buffers": "24MB"}}
        database_cluster.patch([{"op": "add", "path": POSTGRES, "value": settings}])
        await database_cluster.wait_for(lambda: not database_cluster.is_settled(), "the change to begin")
    assert before.isdisjoint(pod_uids(database_cluster))
    await wait_for_settings(database_cluster, "max_connections", "130")
    assert await server_settings(database_cluster, "shared_buffers") == {"24MB"}


def is_refused(database: DatabaseCluster, message: str) -> bool:
    return message in database.shard_condition("PostgresConfigRefused").get("message", "")


async def test_a_setting_that_postgres_does_not_accept_reaches_no_server(
    database_cluster: DatabaseCluster,
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    before = pod_uids(database_cluster)
    for settings, message in (
        ({"wrok_mem": "8MB"}, "wrok_mem (Postgres does not know it)"),
        ({"shared_buffers": "much"}, "shared_buffers (it is not a number)"),
    ):
        database_cluster.patch([{"op": "add", "path": POSTGRES, "value": {"settings": settings}}])
        await database_cluster.wait_for(partial(is_refused, database_cluster, message), "a refusal")
    database_cluster.patch([{"op": "remove", "path": POSTGRES}])
    await database_cluster.wait_for(
        lambda: not database_cluster.shard_condition("PostgresConfigRefused"), "the end of the refusal"
    )
    assert pod_uids(database_cluster) == before


def scraped(address: str, port: int) -> str:
    with urllib.request.urlopen(f"http://{address}:{port}/metrics", timeout=30) as answer:
        assert answer.status == 200
        return str(answer.read().decode())


async def test_servers_poolers_and_gateways_serve_metrics(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    for pod in database_cluster.pods():
        exporter = scraped(pod["status"]["podIP"], EXPORTER_METRICS)
        assert "\npg_up 1\n" in exporter
        for name in ("pg_capacity_max_connections", "pg_oldest_transaction_age", "pg_archiving_failed_count"):
            assert f"\n{name}" in exporter, f"{name} is missing"
        assert "mg_pooler_" in scraped(pod["status"]["podIP"], POOLER_METRICS)
    connection = await database_cluster.endpoint().connect()
    try:
        [gateway] = database_cluster.pods("multigateway")
        metrics = scraped(gateway["status"]["podIP"], GATEWAY_METRICS)
    finally:
        await connection.close()
    counts = [
        float(line.rpartition(" ")[2])
        for line in metrics.splitlines()
        if line.startswith("mg_gateway_client_connections{") and 'endpoint="primary"' in line
    ]
    assert sum(counts) >= 1


async def connect_with_tls(endpoint: Endpoint, authority: str) -> asyncpg.Connection:
    """Verifies the authority. Not the name: the test connects to the address of the Service."""
    context = ssl.create_default_context(cadata=authority)
    context.check_hostname = False
    return await asyncpg.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.user,
        password=endpoint.password,
        database=endpoint.database,
        ssl=context,
        timeout=30,
        statement_cache_size=0,
    )


async def test_gateways_offer_tls_and_require_it_when_asked(database_cluster: DatabaseCluster) -> None:
    manifest = database_cluster.manifest(ONE_CELL, ("z1",))
    manifest["spec"]["gatewayTls"] = {"enabled": True}
    database_cluster.apply(manifest)
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    endpoint = database_cluster.endpoint()
    authority = database_cluster.secret(names.connection_secret(database_cluster.name))["ca.crt"]
    connection = await connect_with_tls(endpoint, authority)
    try:
        assert await connection.fetchval("SELECT 1") == 1
    finally:
        await connection.close()
    assert await value(endpoint, "SELECT 2") == 2, "clients without TLS are accepted"
    database_cluster.patch([{"op": "add", "path": "/spec/gatewayTls/required", "value": True}])

    async def is_refused_without_tls() -> bool:
        try:
            await value(endpoint, "SELECT 3")
        except asyncpg.InvalidAuthorizationSpecificationError as error:
            return "TLS is required" in str(error)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
            return False
        return False

    async with asyncio.timeout(120):
        while not await is_refused_without_tls():
            await asyncio.sleep(1)
    connection = await connect_with_tls(endpoint, authority)
    await connection.close()


async def test_a_hibernated_cluster_wakes_to_the_same_rows(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    account = database_cluster.endpoint()
    async with counted_writes(account) as counts:
        await enough_writes(counts)
    database_cluster.patch([{"op": "add", "path": "/spec/hibernation", "value": True}])
    stopped = await database_cluster.wait_for(
        lambda: database_cluster.status().get("phase") == "Hibernated", "hibernation"
    )
    assert database_cluster.pods() == database_cluster.pods("multigateway") == []
    assert database_cluster.endpoint() == account, "Secrets and Services stay"
    database_cluster.patch([{"op": "add", "path": "/spec/hibernation", "value": False}])
    woken = await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy again")
    record_property("seconds", f"{stopped:.0f} to stop, {woken:.0f} to wake")
    assert await stored_rows(account) == set(counts.acknowledged)


async def test_a_protected_cluster_is_not_deleted(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    database_cluster.patch([{"op": "add", "path": "/spec/deletionProtection", "value": True}])
    where = ("multigrescluster", database_cluster.name, "-n", database_cluster.namespace)
    refusal = database_cluster.containers.kubectl.expect_rejection("delete", *where, "--wait=false")
    assert "is protected from deletion by spec.deletionProtection" in refusal
    assert "deletionTimestamp" not in database_cluster.containers.kubectl.json("get", *where)["metadata"]
    assert await value(database_cluster.endpoint(), "SELECT 1") == 1
    database_cluster.patch([{"op": "replace", "path": "/spec/deletionProtection", "value": False}])
    await asyncio.to_thread(database_cluster.delete)
