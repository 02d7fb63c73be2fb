"""Failures of real databases: nothing is deleted, the status reports the failure, and the registry recovers.

One operator and one table for all scenarios of a database: each starts with the Tenants that the one before left.
"""

import asyncio
import base64
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncmy
import asyncpg
import pytest

from steward.local.control_plane import ControlPlane
from tests.support import namespaces
from tests.support.database_servers import DatabaseServer
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import World, config_template, until
from tests.tenants.support.database_proxy import DatabaseProxy, database_proxy
from tests.tenants.support.fleet import create_namespaces
from tests.tenants.support.manifests import Manifest, registry
from tests.tenants.support.operator import running_operator

pytestmark = [pytest.mark.timeout(1200), pytest.mark.needs_server]

UIDS = ("acme", "hooli", "initech", "umbrella")
MAPPINGS = {"uid": "id", "hostOrUrl": "url", "activate": "active"}


def rows(uids: Iterable[str]) -> str:
    return ", ".join(f"('{uid}', 'https://{uid}.example.com', '1', 'basic')" for uid in uids)


def tenants(uids: Iterable[str]) -> set[str]:
    return {f"{uid}-web-app" for uid in uids}


@dataclass
class Database(ABC):
    """A database on a real server, with a user that may only read it."""

    kind: str
    server: DatabaseServer
    name: str = field(default_factory=lambda: f"db_{secrets.token_hex(4)}")
    password: str = field(default_factory=lambda: secrets.token_hex(8))
    is_made: bool = False

    def run(self, *statements: str) -> None:
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(self._run(*statements))
        finally:
            loop.close()

    @abstractmethod
    async def _run(self, *statements: str) -> None: ...

    @abstractmethod
    def add_inactive(self, count: int) -> None:
        """Adds so many long inactive rows."""

    def registry(self, interval: str = "1s", plan: str = "plan") -> Manifest:
        source = {
            "host": "customers.example.com", "port": 7000, "username": self.name, "database": self.name,
            "table": "customers", "passwordRef": {"name": "db", "key": "password"}, "tls": {"mode": "disable"},
            "connectTimeout": "2s", "queryTimeout": "5s",
        }  # fmt: skip
        return registry(
            source={"type": self.kind, "syncInterval": interval, self.kind: source},
            valueMappings=MAPPINGS,
            extraValueMappings={"plan": plan},
        )

    def secret(self, password: str | None = None) -> Manifest:
        encoded = base64.b64encode((password or self.password).encode()).decode()
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "db"},
            "data": {"password": encoded},
        }


class MariaDb(Database):
    async def _run(self, *statements: str) -> None:
        server = self.server
        connection = await asyncmy.connect(
            host="127.0.0.1", port=server.port, user=server.user, password=server.password, autocommit=True
        )
        try:
            cursor = connection.cursor()
            if self.is_made:
                await cursor.execute(f"USE {self.name}")
            for statement in statements:
                await cursor.execute(statement)
        finally:
            await connection.ensure_closed()
            # The transport closes its socket in the next iteration of the event loop.
            await asyncio.sleep(0)

    def make(self) -> None:
        columns = "(id VARCHAR(60), url TEXT, active VARCHAR(9), plan TEXT)"
        self.run(
            f"CREATE DATABASE {self.name}",
            f"USE {self.name}",
            f"CREATE TABLE customers {columns}",
            f"CREATE TABLE customerz {columns}",
            f"INSERT INTO customers VALUES {rows(UIDS)}",
            "INSERT INTO customerz VALUES ('acme', 'https://acme.example.com', '1', 'basic')",
            f"CREATE USER {self.name} IDENTIFIED BY '{self.password}'",
            f"GRANT SELECT ON {self.name}.* TO {self.name}",
        )
        self.is_made = True

    def add_inactive(self, count: int) -> None:
        numbers = f"SELECT CONCAT('row', seq), 'x', '0', REPEAT('x', 100) FROM seq_1_to_{count}"
        self.run(f"INSERT INTO customers {numbers}")

    def change_password(self, password: str) -> None:
        self.run(f"SET PASSWORD FOR {self.name} = PASSWORD('{password}')")


class Postgres(Database):
    async def _run(self, *statements: str) -> None:
        server = self.server
        connection = await asyncpg.connect(
            host="127.0.0.1", port=server.port, user=server.user, password=server.password,
            database=self.name if self.is_made else "postgres",
        )  # fmt: skip
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    def make(self) -> None:
        self.run(f"CREATE DATABASE {self.name}", f"CREATE USER {self.name} PASSWORD '{self.password}'")
        self.is_made = True
        self.run(
            "CREATE TABLE customers (id TEXT, url TEXT, active TEXT, plan TEXT)",
            f"INSERT INTO customers VALUES {rows(UIDS)}",
            f"GRANT SELECT ON customers TO {self.name}",
        )

    def add_inactive(self, count: int) -> None:
        numbers = f"SELECT 'row' || n, 'x', '0', repeat('x', 100) FROM generate_series(1, {count}) n"
        self.run(f"INSERT INTO customers {numbers}")

    def change_password(self, password: str) -> None:
        self.run(f"ALTER USER {self.name} PASSWORD '{password}'")


@dataclass
class DatabaseScenario:
    """Customers in a database behind a proxy, with a Tenant for each."""

    world: World
    database: Any
    proxy: DatabaseProxy
    uids: dict[str, str] = field(default_factory=dict)
    """By the uid of the row: the uid of the Tenant at the start of the test."""

    def start(self) -> None:
        """Repairs what the previous test left, and records the Tenants."""
        _restore_proxy(self)
        self.world.apply(self.database.secret())
        self.world.until_condition("SourceReachable", "True")
        found = self.world.tenants()
        self.uids = {item["spec"]["uid"]: item["metadata"]["uid"] for item in found.values()}

    def has_all_tenants(self) -> bool:
        found = {item["spec"]["uid"]: item["metadata"]["uid"] for item in self.world.tenants().values()}
        return found == self.uids and self.world.active_tenants() == tenants(self.uids)

    def clear_inactive(self) -> None:
        self.database.run("DELETE FROM customers WHERE active = '0'")


def _environment(
    control_plane: ControlPlane, kubectl: Kubectl, directory: Path, database: Any
) -> Iterator[DatabaseScenario]:
    """An operator that reads the table every second."""
    database.make()
    (namespace,) = create_namespaces(kubectl, 1)
    with database_proxy(("127.0.0.1", database.server.port)) as proxy:
        forward = f"customers.example.com:7000:127.0.0.1:{proxy.port}"
        with running_operator(control_plane, namespace, directory / "operator.log", connect_to=forward):
            world = World(kubectl, namespace)
            world.apply(database.secret(), database.registry(), config_template())
            until(lambda: world.active_tenants() == tenants(UIDS), world.status)
            until(lambda: world.status().get("desired") == len(UIDS), world.status)
            yield DatabaseScenario(world, database, proxy)
            namespaces.release_namespace(kubectl.server, namespace)


@pytest.fixture(scope="module")
def mariadb_environment(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    mariadb: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[DatabaseScenario]:
    directory = tmp_path_factory.mktemp("operator")
    yield from _environment(control_plane, kubectl, directory, MariaDb("mysql", mariadb))


@pytest.fixture(scope="module")
def postgres_environment(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    postgres: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[DatabaseScenario]:
    directory = tmp_path_factory.mktemp("operator")
    yield from _environment(control_plane, kubectl, directory, Postgres("postgres", postgres))


@pytest.fixture
def mariadb_scenario(mariadb_environment: DatabaseScenario) -> DatabaseScenario:
    mariadb_environment.start()
    return mariadb_environment


@pytest.fixture
def postgres_scenario(postgres_environment: DatabaseScenario) -> DatabaseScenario:
    postgres_environment.start()
    return postgres_environment


def _refuse(scenario: DatabaseScenario) -> None:
    scenario.proxy.refuses = True
    scenario.proxy.cut_all()


def _stop_answering(scenario: DatabaseScenario) -> None:
    scenario.proxy.is_silent = True
    scenario.proxy.cut_all()


def _cut(scenario: DatabaseScenario) -> None:
    scenario.database.add_inactive(500)
    scenario.proxy.cuts_after = 20_000


def _spoil_password(scenario: DatabaseScenario) -> None:
    scenario.world.apply(scenario.database.secret("wrong-3f9c"))


def _drop_column(scenario: DatabaseScenario) -> None:
    scenario.database.run("ALTER TABLE customers RENAME COLUMN active TO enabled")


def _restore_proxy(scenario: DatabaseScenario) -> None:
    scenario.proxy.refuses = scenario.proxy.is_silent = False
    scenario.proxy.cuts_after = None
    scenario.proxy.cut_all()


def _restore_cut(scenario: DatabaseScenario) -> None:
    _restore_proxy(scenario)
    scenario.clear_inactive()


def _restore_password(scenario: DatabaseScenario) -> None:
    scenario.world.apply(scenario.database.secret())


def _restore_column(scenario: DatabaseScenario) -> None:
    scenario.database.run("ALTER TABLE customers RENAME COLUMN enabled TO active")


Action = Callable[[DatabaseScenario], None]


def _outage(scenario: DatabaseScenario, break_: Action, message: str, repair: Action) -> None:
    break_(scenario)
    scenario.world.until_condition("SourceReachable", "False")
    until(
        lambda: message in scenario.world.condition("SourceReachable")["message"].lower(),
        scenario.world.status,
    )
    assert "wrong-3f9c" not in str(scenario.world.get("tenantregistry", "prod"))
    status, count = scenario.world.status(), len(scenario.uids)
    assert (status["desired"], status["activeRows"], status["referencingTemplates"]) == (count, count, 1)
    assert scenario.has_all_tenants()

    repair(scenario)
    scenario.world.until_condition("SourceReachable", "True")
    late = f"late{count}"
    scenario.database.run(f"INSERT INTO customers VALUES {rows([late])}")
    until(lambda: scenario.world.active_tenants() == tenants([*scenario.uids, late]), scenario.world.status)


@pytest.mark.parametrize(
    ("break_", "message", "repair"),
    [
        pytest.param(_refuse, "check host, port", _restore_proxy, id="refused"),
        pytest.param(_stop_answering, "no answer", _restore_proxy, id="silent"),
        pytest.param(_cut, "lost connection", _restore_cut, id="cut"),
        pytest.param(_spoil_password, "check username and passwordref", _restore_password, id="password"),
        pytest.param(_drop_column, "unknown column", _restore_column, id="column"),
    ],
)
def test_a_failing_mariadb_deletes_no_tenant(
    mariadb_scenario: DatabaseScenario, break_: Action, message: str, repair: Action
) -> None:
    _outage(mariadb_scenario, break_, message, repair)


@pytest.mark.parametrize(
    ("break_", "message", "repair"),
    [
        pytest.param(_refuse, "customers.example.com", _restore_proxy, id="refused"),
        pytest.param(_stop_answering, "no answer", _restore_proxy, id="silent"),
        pytest.param(_cut, "connection", _restore_cut, id="cut"),
        pytest.param(_drop_column, "column", _restore_column, id="column"),
        pytest.param(_spoil_password, "passwordref", _restore_password, id="password"),
    ],
)
def test_a_failing_postgres_deletes_no_tenant(
    postgres_scenario: DatabaseScenario, break_: Action, message: str, repair: Action
) -> None:
    _outage(postgres_scenario, break_, message, repair)


@pytest.mark.parametrize("scenario", ["mariadb_scenario", "postgres_scenario"])
def test_a_rotated_password_is_used_without_a_restart(request: pytest.FixtureRequest, scenario: str) -> None:
    found: DatabaseScenario = request.getfixturevalue(scenario)
    rotated = secrets.token_hex(8)
    found.database.change_password(rotated)
    found.proxy.cut_all()
    found.world.until_condition("SourceReachable", "False")
    found.database.password = rotated
    found.world.apply(found.database.secret())
    found.world.until_condition("SourceReachable", "True")
    assert found.has_all_tenants()
    assert rotated not in found.world.kubectl("get", "tenantregistries,tenants,events", "-o", "yaml")


def test_deletions_of_a_lagging_replica_are_held_and_cancelled(mariadb_scenario: DatabaseScenario) -> None:
    mariadb_scenario.proxy.reads_other_table = True
    held = mariadb_scenario.world.until_condition("DeletionHeld", "True")
    assert held["reason"] == "TooLargeAShareAtOnce"
    mariadb_scenario.proxy.reads_other_table = False
    mariadb_scenario.world.until_condition("DeletionHeld", "False")
    assert mariadb_scenario.has_all_tenants()


def test_a_truncated_table_deletes_nothing(mariadb_scenario: DatabaseScenario) -> None:
    mariadb_scenario.database.run("TRUNCATE customers")
    assert mariadb_scenario.world.until_condition("DeletionHeld", "True")["reason"] == "EmptyResult"
    mariadb_scenario.database.run(f"INSERT INTO customers VALUES {rows(mariadb_scenario.uids)}")
    mariadb_scenario.world.until_condition("DeletionHeld", "False")
    assert mariadb_scenario.has_all_tenants()


def test_a_row_among_ten_thousand_gets_its_tenant(mariadb_scenario: DatabaseScenario) -> None:
    scenario = mariadb_scenario
    scenario.database.add_inactive(10_000)
    scenario.database.run("UPDATE customers SET active = '1' WHERE id = 'row7777'")
    until(
        lambda: scenario.world.active_tenants() == tenants([*scenario.uids, "row7777"]), scenario.world.status
    )
    assert scenario.world.status()["rejectedRows"] == 0
    scenario.clear_inactive()


def test_hostile_values_affect_only_their_own_rows(mariadb_scenario: DatabaseScenario) -> None:
    scenario = mariadb_scenario
    scenario.database.run(
        "ALTER TABLE customers MODIFY plan MEDIUMBLOB",
        "INSERT INTO customers VALUES ('curly', 'odd', '1', '{{ .uid }}'), ('bytes', 'odd', '1', X'C328'), "
        "('n\\0ul', 'odd', '1', ''), ('large', 'odd', '1', REPEAT('x', 1100000))",
    )
    until(
        lambda: scenario.world.active_tenants() == tenants([*scenario.uids, "curly"]), scenario.world.status
    )
    until(lambda: scenario.world.status()["rejectedRows"] == 3, scenario.world.status)
    assert "'plan': '{{ .uid }}'" in str(scenario.world.tenants()["curly-web-app"]["spec"])
    scenario.database.run("DELETE FROM customers WHERE url = 'odd'", "ALTER TABLE customers MODIFY plan TEXT")
    until(scenario.has_all_tenants, scenario.world.status)
    until(lambda: scenario.world.status()["rejectedRows"] == 0, scenario.world.status)


def test_a_row_that_is_replaced_again_and_again_keeps_its_tenant(mariadb_scenario: DatabaseScenario) -> None:
    for plan in ("one", "two", "three"):
        mariadb_scenario.database.run(
            "START TRANSACTION",
            "DELETE FROM customers WHERE id = 'acme'",
            f"INSERT INTO customers VALUES ('acme', 'https://acme.example.com', '1', '{plan}')",
            "COMMIT",
        )
        _until_plan(mariadb_scenario, plan)
    assert mariadb_scenario.has_all_tenants()


def _until_plan(scenario: DatabaseScenario, plan: str) -> None:
    until(
        lambda: f"'plan': '{plan}'" in str(scenario.world.tenants()["acme-web-app"]["spec"]),
        scenario.world.tenants,
    )


def test_a_status_change_of_a_tenant_causes_no_query(mariadb_scenario: DatabaseScenario) -> None:
    world, proxy = mariadb_scenario.world, mariadb_scenario.proxy
    world.apply(mariadb_scenario.database.registry("1h", plan="id"))
    _until_plan(mariadb_scenario, "acme")
    count = len(mariadb_scenario.uids)
    until(lambda: world.status().get("ready") == count, world.status)
    before = proxy.connections

    def is_outdated() -> bool:
        # Repeated: the operator may be about to write that status once more.
        outdated = ("--subresource=status", "--type=merge", "-p", '{"status":{"observedGeneration":0}}')
        world.kubectl("patch", "tenant", "acme-web-app", *outdated)
        return bool(world.status().get("ready") == count - 1)

    until(is_outdated, world.status)
    assert proxy.connections == before
    world.apply(mariadb_scenario.database.registry())
