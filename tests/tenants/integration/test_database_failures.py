"""Real databases that fail in every way they know: nothing is deleted, the status tells, and all recovers by itself.

One operator and one table for all stories of a database: each story begins with the Tenants that the one before left.
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
from tests.tenants.conftest import running_operator
from tests.tenants.support.customers import World, config_template, until
from tests.tenants.support.database_proxy import DatabaseProxy, database_proxy
from tests.tenants.support.fleet import make_spaces
from tests.tenants.support.manifests import Manifest, registry

pytestmark = pytest.mark.timeout(1200)

UIDS = ("acme", "hooli", "initech", "umbrella")
MAPPINGS = {"uid": "id", "hostOrUrl": "url", "activate": "active"}


def rows(uids: Iterable[str]) -> str:
    return ", ".join(f"('{uid}', 'https://{uid}.example.com', '1', 'basic')" for uid in uids)


def tenants(uids: Iterable[str]) -> set[str]:
    return {f"{uid}-web-app" for uid in uids}


@dataclass
class Database(ABC):
    """A database of its own on a real server, and a user of its own who may only read it."""

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
        """So many long rows of which nobody wants a Tenant."""

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
            # The transport closes its socket with the next turn of the loop.
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
class Stage:
    """Customers in a database behind a proxy, and a Tenant for each."""

    world: World
    database: Any
    proxy: DatabaseProxy
    uids: dict[str, str] = field(default_factory=dict)
    """Of the Tenants that this story found, by the uids of their rows."""

    def begin(self) -> None:
        """Whatever the story before it left behind."""
        _restore_proxy(self)
        self.world.apply(self.database.secret())
        self.world.until_condition("SourceReachable", "True")
        found = self.world.tenants()
        self.uids = {item["spec"]["uid"]: item["metadata"]["uid"] for item in found.values()}

    def has_kept_all(self) -> bool:
        found = {item["spec"]["uid"]: item["metadata"]["uid"] for item in self.world.tenants().values()}
        return found == self.uids and self.world.staying() == tenants(self.uids)

    def clear_inactive(self) -> None:
        self.database.run("DELETE FROM customers WHERE active = '0'")


def _stage(control_plane: ControlPlane, kubectl: Kubectl, directory: Path, database: Any) -> Iterator[Stage]:
    """The table is read every second."""
    database.make()
    (namespace,) = make_spaces(kubectl, 1)
    with database_proxy(("127.0.0.1", database.server.port)) as proxy:
        forward = f"customers.example.com:7000:127.0.0.1:{proxy.port}"
        with running_operator(control_plane, namespace, directory / "operator.log", connect_to=forward):
            world = World(kubectl, namespace)
            world.apply(database.secret(), database.registry(), config_template())
            until(lambda: world.staying() == tenants(UIDS), world.status)
            until(lambda: world.status().get("desired") == len(UIDS), world.status)
            yield Stage(world, database, proxy)
            namespaces.leave(kubectl.server, namespace)


@pytest.fixture(scope="module")
def mariadb_scene(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    mariadb: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("operator")
    yield from _stage(control_plane, kubectl, directory, MariaDb("mysql", mariadb))


@pytest.fixture(scope="module")
def postgres_scene(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    postgres: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("operator")
    yield from _stage(control_plane, kubectl, directory, Postgres("postgres", postgres))


@pytest.fixture
def mariadb_stage(mariadb_scene: Stage) -> Stage:
    mariadb_scene.begin()
    return mariadb_scene


@pytest.fixture
def postgres_stage(postgres_scene: Stage) -> Stage:
    postgres_scene.begin()
    return postgres_scene


def _refuse(stage: Stage) -> None:
    stage.proxy.refuses = True
    stage.proxy.cut_all()


def _fall_silent(stage: Stage) -> None:
    stage.proxy.is_silent = True
    stage.proxy.cut_all()


def _cut(stage: Stage) -> None:
    stage.database.add_inactive(500)
    stage.proxy.cuts_after = 20_000


def _spoil_password(stage: Stage) -> None:
    stage.world.apply(stage.database.secret("wrong-3f9c"))


def _drop_column(stage: Stage) -> None:
    stage.database.run("ALTER TABLE customers RENAME COLUMN active TO enabled")


def _restore_proxy(stage: Stage) -> None:
    stage.proxy.refuses = stage.proxy.is_silent = False
    stage.proxy.cuts_after = None
    stage.proxy.cut_all()


def _restore_cut(stage: Stage) -> None:
    _restore_proxy(stage)
    stage.clear_inactive()


def _restore_password(stage: Stage) -> None:
    stage.world.apply(stage.database.secret())


def _restore_column(stage: Stage) -> None:
    stage.database.run("ALTER TABLE customers RENAME COLUMN enabled TO active")


Act = Callable[[Stage], None]


def _outage(stage: Stage, break_: Act, words: str, repair: Act) -> None:
    break_(stage)
    stage.world.until_condition("SourceReachable", "False")
    until(lambda: words in stage.world.condition("SourceReachable")["message"].lower(), stage.world.status)
    assert "wrong-3f9c" not in str(stage.world.get("tenantregistry", "prod"))
    status, count = stage.world.status(), len(stage.uids)
    assert (status["desired"], status["activeRows"], status["referencingTemplates"]) == (count, count, 1)
    assert stage.has_kept_all()

    repair(stage)
    stage.world.until_condition("SourceReachable", "True")
    late = f"late{count}"
    stage.database.run(f"INSERT INTO customers VALUES {rows([late])}")
    until(lambda: stage.world.staying() == tenants([*stage.uids, late]), stage.world.status)


@pytest.mark.parametrize(
    ("break_", "words", "repair"),
    [
        pytest.param(_refuse, "check host, port", _restore_proxy, id="refused"),
        pytest.param(_fall_silent, "no answer", _restore_proxy, id="silent"),
        pytest.param(_cut, "lost connection", _restore_cut, id="cut"),
        pytest.param(_spoil_password, "check username and passwordref", _restore_password, id="password"),
        pytest.param(_drop_column, "unknown column", _restore_column, id="column"),
    ],
)
def test_a_mariadb_that_fails_loses_nobody(
    mariadb_stage: Stage, break_: Act, words: str, repair: Act
) -> None:
    _outage(mariadb_stage, break_, words, repair)


@pytest.mark.parametrize(
    ("break_", "words", "repair"),
    [
        pytest.param(_refuse, "customers.example.com", _restore_proxy, id="refused"),
        pytest.param(_fall_silent, "no answer", _restore_proxy, id="silent"),
        pytest.param(_cut, "connection", _restore_cut, id="cut"),
        pytest.param(_drop_column, "column", _restore_column, id="column"),
        pytest.param(_spoil_password, "passwordref", _restore_password, id="password"),
    ],
)
def test_a_postgres_that_fails_loses_nobody(
    postgres_stage: Stage, break_: Act, words: str, repair: Act
) -> None:
    _outage(postgres_stage, break_, words, repair)


@pytest.mark.parametrize("stage", ["mariadb_stage", "postgres_stage"])
def test_a_rotated_password_is_taken_up_without_a_restart(request: pytest.FixtureRequest, stage: str) -> None:
    found: Stage = request.getfixturevalue(stage)
    rotated = secrets.token_hex(8)
    found.database.change_password(rotated)
    found.proxy.cut_all()
    found.world.until_condition("SourceReachable", "False")
    found.database.password = rotated
    found.world.apply(found.database.secret())
    found.world.until_condition("SourceReachable", "True")
    assert found.has_kept_all()
    assert rotated not in found.world.kubectl("get", "tenantregistries,tenants,events", "-o", "yaml")


def test_a_replica_that_lags_is_held_and_forgotten(mariadb_stage: Stage) -> None:
    mariadb_stage.proxy.lies = True
    held = mariadb_stage.world.until_condition("DeletionHeld", "True")
    assert held["reason"] == "TooLargeAShareAtOnce"
    mariadb_stage.proxy.lies = False
    mariadb_stage.world.until_condition("DeletionHeld", "False")
    assert mariadb_stage.has_kept_all()


def test_a_truncated_table_deletes_nothing(mariadb_stage: Stage) -> None:
    mariadb_stage.database.run("TRUNCATE customers")
    assert mariadb_stage.world.until_condition("DeletionHeld", "True")["reason"] == "EmptyResult"
    mariadb_stage.database.run(f"INSERT INTO customers VALUES {rows(mariadb_stage.uids)}")
    mariadb_stage.world.until_condition("DeletionHeld", "False")
    assert mariadb_stage.has_kept_all()


def test_ten_thousand_rows_hide_nobody(mariadb_stage: Stage) -> None:
    stage = mariadb_stage
    stage.database.add_inactive(10_000)
    stage.database.run("UPDATE customers SET active = '1' WHERE id = 'row7777'")
    until(lambda: stage.world.staying() == tenants([*stage.uids, "row7777"]), stage.world.status)
    assert stage.world.status()["rejectedRows"] == 0
    stage.clear_inactive()


def test_hostile_values_spoil_their_own_rows_and_nobody_elses(mariadb_stage: Stage) -> None:
    stage = mariadb_stage
    stage.database.run(
        "ALTER TABLE customers MODIFY plan MEDIUMBLOB",
        "INSERT INTO customers VALUES ('curly', 'odd', '1', '{{ .uid }}'), ('bytes', 'odd', '1', X'C328'), "
        "('n\\0ul', 'odd', '1', ''), ('large', 'odd', '1', REPEAT('x', 1100000))",
    )
    until(lambda: stage.world.staying() == tenants([*stage.uids, "curly"]), stage.world.status)
    until(lambda: stage.world.status()["rejectedRows"] == 3, stage.world.status)
    assert "'plan': '{{ .uid }}'" in str(stage.world.tenants()["curly-web-app"]["spec"])
    stage.database.run("DELETE FROM customers WHERE url = 'odd'", "ALTER TABLE customers MODIFY plan TEXT")
    until(stage.has_kept_all, stage.world.status)
    until(lambda: stage.world.status()["rejectedRows"] == 0, stage.world.status)


def test_a_row_that_is_replaced_again_and_again_keeps_its_tenant(mariadb_stage: Stage) -> None:
    for plan in ("one", "two", "three"):
        mariadb_stage.database.run(
            "START TRANSACTION",
            "DELETE FROM customers WHERE id = 'acme'",
            f"INSERT INTO customers VALUES ('acme', 'https://acme.example.com', '1', '{plan}')",
            "COMMIT",
        )
        _until_plan(mariadb_stage, plan)
    assert mariadb_stage.has_kept_all()


def _until_plan(stage: Stage, plan: str) -> None:
    until(
        lambda: f"'plan': '{plan}'" in str(stage.world.tenants()["acme-web-app"]["spec"]), stage.world.tenants
    )


def test_what_tenants_say_of_themselves_asks_the_database_nothing(mariadb_stage: Stage) -> None:
    world, proxy = mariadb_stage.world, mariadb_stage.proxy
    world.apply(mariadb_stage.database.registry("1h", plan="id"))
    _until_plan(mariadb_stage, "acme")
    count = len(mariadb_stage.uids)
    until(lambda: world.status().get("ready") == count, world.status)
    before = proxy.connections

    def is_unsaid() -> bool:
        # Again and again: the operator may be about to write that status, and says it once more.
        unsaid = ("--subresource=status", "--type=merge", "-p", '{"status":{"observedGeneration":0}}')
        world.kubectl("patch", "tenant", "acme-web-app", *unsaid)
        return bool(world.status().get("ready") == count - 1)

    until(is_unsaid, world.status)
    assert proxy.connections == before
    world.apply(mariadb_stage.database.registry())
