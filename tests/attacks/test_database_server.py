"""Attacks by a database server that a registry reads from, on a running operator.

`tests/tenants/sources/test_hostile_servers.py` plays the same attacks to each reader, with tighter limits.
"""

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from steward.local.control_plane import ControlPlane
from tests.attacks.support import hostile_mysql, hostile_postgres
from tests.attacks.support.hostile_server import hostile_server
from tests.attacks.support.process_memory import MIB, peak_bytes, reset_peak, resident_bytes
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import FILE, Customers, World, until
from tests.tenants.support.fleet import create_namespaces, delete_tenants_and_namespaces
from tests.tenants.support.manifests import Manifest, registry, template
from tests.tenants.support.operator import running_operator

pytestmark = [pytest.mark.timeout(1200), pytest.mark.needs_server]

SCRIPTS = {"mysql": hostile_mysql.ATTACKS, "postgres": hostile_postgres.ATTACKS}
ENDLESS = [
    *(("mysql", name) for name in ("endless_row", "endless_columns", "endless_greeting", "endless_login")),
    *(
        ("postgres", name)
        for name in ("endless_row", "endless_settings", "endless_notices", "endless_hashing")
    ),
]
PASSWORD = "hunter2-of-the-reader"
TABLE_BYTES = 256 * MIB
"""The limit of a table in a process without a memory limit."""
OTHER_BYTES = 64 * MIB


class Site(NamedTuple):
    """One operator for all tests of this file, with an honest registry and its Tenants in one namespace."""

    world: World
    operator: subprocess.Popen[bytes]
    customers: Customers
    log: Path


@pytest.fixture(scope="module")
def site(
    control_plane: ControlPlane, tenants_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    (home,) = create_namespaces(tenants_kubectl, 1)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, home, log) as process:
        try:
            site = Site(World(tenants_kubectl, home), process, Customers(log.parent), log)
            site.customers.add("acme", "hooli")
            site.world.apply(secret(), honest_registry(), template(registryId="honest"))
            site.world.until_tenants("acme-web-app", "hooli-web-app")
            yield site
        finally:
            # Without its table the registry creates no Tenants again.
            (log.parent / FILE).unlink()
            delete_tenants_and_namespaces(tenants_kubectl, [home])


def secret() -> Manifest:
    data = {"password": base64.b64encode(PASSWORD.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "data": data}


def honest_registry() -> Manifest:
    sqlite = {"file": "customers.db", "table": "customers"}
    return registry("honest", source={"type": "sqlite", "syncInterval": "1s", "sqlite": sqlite})


def hostile_registry(kind: str, port: int) -> Manifest:
    block = {
        "host": "127.0.0.1", "port": port, "username": "reader", "database": "saas", "table": "customers",
        "passwordRef": {"name": "db", "key": "password"}, "tls": {"mode": "disable"}, "queryTimeout": "5s",
    }  # fmt: skip
    return registry("hostile", source={"type": kind, "syncInterval": "300s", kind: block})


def until_failed(site: Site) -> str:
    """The message of the hostile registry after its first read."""

    def message() -> str:
        ready = site.world.condition("Ready", name="hostile")
        return str(ready["message"]) if ready["reason"] == "DatabaseConnectionFailed" else ""

    return str(until(message, lambda: site.world.status(name="hostile")))


def until_served(site: Site, uid: str) -> None:
    """Until the honest registry has made a Tenant of a new row: nobody waits for the hostile server."""
    site.customers.add(uid)
    until(lambda: f"{uid}-web-app" in site.world.tenants(), site.world.tenants)


@pytest.mark.parametrize(("kind", "attack"), ENDLESS)
def test_a_hostile_server_stops_neither_the_operator_nor_other_registries(
    site: Site, kind: str, attack: str
) -> None:
    reset_peak(site.operator.pid)
    before = resident_bytes(site.operator.pid)
    with hostile_server(SCRIPTS[kind][attack]) as server:
        site.world.apply(hostile_registry(kind, server.port))
        until_served(site, f"{kind}-{attack}".replace("_", "-"))
        message = until_failed(site)
        site.world.kubectl("delete", "tenantregistry", "hostile")
    assert site.operator.poll() is None
    assert peak_bytes(site.operator.pid) < before + OTHER_BYTES
    assert len(message) < 600
    assert PASSWORD not in message


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_rows_of_astral_characters_are_counted_in_bytes(site: Site, kind: str) -> None:
    reset_peak(site.operator.pid)
    before = resident_bytes(site.operator.pid)
    with hostile_server(SCRIPTS[kind]["endless_rows"]) as server:
        site.world.apply(hostile_registry(kind, server.port))
        assert "the table is too large for tenants" in until_failed(site)
        site.world.kubectl("delete", "tenantregistry", "hostile")
    assert peak_bytes(site.operator.pid) < before + TABLE_BYTES + OTHER_BYTES


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_the_text_of_a_server_is_short_and_printable_in_status_events_and_log(site: Site, kind: str) -> None:
    with hostile_server(SCRIPTS[kind]["long_error"]) as server:
        site.world.apply(hostile_registry(kind, server.port))
        message = until_failed(site)
        events = site.world.events("DatabaseQueryFailed")
        site.world.kubectl("delete", "tenantregistry", "hostile")
    assert "forged line" in message
    assert all(len(text) < 600 and text.isprintable() for text in (message, *events))
    assert "\x1b" not in site.log.read_text()
