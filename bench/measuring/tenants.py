"""A customers table in a real MariaDB, and a registry and template that create five objects for each row."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncmy
from tests.support.database_servers import DatabaseServer, mariadb_server

from bench.measuring.bare_client import BareClient, Manifest
from steward.tenants.api.group import API_VERSION

REGISTRY, TEMPLATE, DATABASE = "customers", "web", "saas"
OBJECTS_EACH = 5
_KIND = f"/apis/{API_VERSION}"
_INSERT_AT_ONCE = 1_000


class CustomersTable:
    """The table, as a user changes it."""

    def __init__(self, server: DatabaseServer, connection: Any) -> None:
        self._server = server
        self._connection = connection

    async def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        async with self._connection.cursor() as cursor:
            await cursor.execute(statement, values)
            return list(await cursor.fetchall())

    async def add(self, numbers: Iterable[int]) -> None:
        rows = [(row_uid(number), f"https://{row_uid(number)}.example.com", "basic") for number in numbers]
        async with self._connection.cursor() as cursor:
            for start in range(0, len(rows), _INSERT_AT_ONCE):
                await cursor.executemany(
                    "INSERT INTO customers (id, url, active, plan) VALUES (%s, %s, 1, %s)",
                    rows[start : start + _INSERT_AT_ONCE],
                )

    async def clear(self) -> None:
        await self.run("DELETE FROM customers")

    async def set_plan(self, number: int, plan: str) -> None:
        await self.run("UPDATE customers SET plan = %s WHERE id = %s", plan, row_uid(number))

    @asynccontextmanager
    async def logged_statements(self) -> AsyncIterator[None]:
        """Let the server log every statement with its time."""
        await self.run("SET GLOBAL log_output = 'TABLE'")
        await self.run("SET GLOBAL general_log = 'ON'")
        try:
            yield
        finally:
            await self.run("SET GLOBAL general_log = 'OFF'")

    async def first_read_since(self, moment: datetime) -> datetime:
        """When the operator first read the table after this time, by the server's clock."""
        statement = "SELECT MIN(event_time) FROM mysql.general_log WHERE event_time > %s AND argument LIKE %s"
        [(found,)] = await self.run(statement, moment, "SELECT%`customers`%")
        assert isinstance(found, datetime), "the operator never read the table"
        return found

    async def now(self) -> datetime:
        [(found,)] = await self.run("SELECT NOW(6)")
        assert isinstance(found, datetime)
        return found

    def registry(self, interval: str) -> Manifest:
        mysql = {
            "host": self._server.host,
            "port": self._server.port,
            "username": self._server.user,
            "passwordRef": {"name": REGISTRY, "key": "password"},
            "database": DATABASE,
            "table": "customers",
        }
        spec = {
            "source": {"type": "mysql", "syncInterval": interval, "mysql": mysql},
            "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
            "extraValueMappings": {"plan": "plan"},
        }
        return {
            "apiVersion": API_VERSION,
            "kind": "TenantRegistry",
            "metadata": {"name": REGISTRY},
            "spec": spec,
        }

    def password(self) -> Manifest:
        secret = base64.b64encode(self._server.password.encode()).decode()
        return {"metadata": {"name": REGISTRY}, "data": {"password": secret}}


@asynccontextmanager
async def customers_table() -> AsyncIterator[CustomersTable]:
    with mariadb_server() as server:
        connection = await asyncmy.connect(
            host=server.host, port=server.port, user=server.user, password=server.password, autocommit=True
        )
        try:
            table = CustomersTable(server, connection)
            await table.run(f"CREATE DATABASE {DATABASE}")
            await table.run(f"USE {DATABASE}")
            await table.run(
                "CREATE TABLE customers (id VARCHAR(63) PRIMARY KEY, url TEXT, active BOOLEAN, plan TEXT)"
            )
            yield table
        finally:
            await connection.ensure_closed()


def row_uid(number: int) -> str:
    return f"t{number}"


def tenant_name(number: int) -> str:
    return f"{row_uid(number)}-{TEMPLATE}"


def template(version: str = "1") -> Manifest:
    """ServiceAccount, ConfigMap, Secret, Service and Deployment; only the ConfigMap contains the version."""
    labels = {"app": "{{ .uid }}"}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}}
    data = {"host": "{{ .host }}", "plan": "{{ .plan }}", "version": version}
    spec = {
        "registryId": REGISTRY,
        "serviceAccounts": [_object("account", "v1", "ServiceAccount")],
        "configMaps": [_object("config", "v1", "ConfigMap", data=data)],
        "secrets": [_object("secret", "v1", "Secret", stringData={"token": "{{ .uid }}"})],
        "services": [
            _object(
                "service", "v1", "Service", spec={"selector": labels, "ports": [{"name": "http", "port": 80}]}
            )
        ],
        "deployments": [
            _object(
                "app",
                "apps/v1",
                "Deployment",
                spec={"replicas": 1, "selector": {"matchLabels": labels}, "template": pods},
            )
        ],
    }
    return {"apiVersion": API_VERSION, "kind": "TenantTemplate", "metadata": {"name": TEMPLATE}, "spec": spec}


def _object(resource_id: str, api_version: str, kind: str, **content: Any) -> Manifest:
    body = {"apiVersion": api_version, "kind": kind, **content}
    return {"id": resource_id, "nameTemplate": "{{ .uid }}", "spec": body}


@dataclass(frozen=True)
class TenantsNamespace:
    """A namespace with a registry and a template in it."""

    bare: BareClient
    namespace: str
    table: CustomersTable
    interval: str = "1s"
    """The sync interval of the registry."""
    make_template: Callable[[str], Manifest] = template

    def path(self, plural: str) -> str:
        return f"{_KIND}/namespaces/{self.namespace}/{plural}"

    def core(self, plural: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/{plural}"

    def apps(self, plural: str) -> str:
        return f"/apis/apps/v1/namespaces/{self.namespace}/{plural}"

    async def create(self) -> None:
        await self.bare.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        await self.bare.create(self.core("secrets"), self.table.password())

    async def create_registry_and_template(self) -> None:
        """Create the registry and the template: from now on rows become tenants."""
        await self.bare.create(self.path("tenantregistries"), self.table.registry(self.interval))
        await self.apply_template()

    async def apply_template(self, version: str = "1") -> None:
        await self.bare.apply_at(f"{self.path('tenanttemplates')}/{TEMPLATE}", self.make_template(version))

    async def delete(self) -> None:
        """Delete the namespace without the operator, after removing all finalizers."""
        for plural in ("tenants", "tenanttemplates", "tenantregistries"):
            await self._remove_finalizers(plural)
        await self.bare.delete(f"/api/v1/namespaces/{self.namespace}")

    async def _remove_finalizers(self, plural: str) -> None:
        for item in json.loads(await self.bare.get(self.path(plural)))["items"]:
            path = f"{self.path(plural)}/{item['metadata']['name']}"
            await self.bare.merge(path, {"metadata": {"finalizers": None}})
