"""A table at rest is read, and nothing else is done for it, until a row, a Tenant or anything else moves."""

from typing import Any

import msgspec
import pytest

from steward.kube.errors import Unreachable
from steward.kube.kinds import Key
from steward.kube.meta import ObjectMeta
from steward.kube.selectors import CacheRule
from steward.kube.store import Store
from steward.runtime.plan import Apply, Delete, Plan
from steward.tenants.controllers.ground import Ground
from steward.tenants.controllers.in_force import put_in_force
from steward.tenants.controllers.reading import Finished, Inputs
from steward.tenants.controllers.registry_memory import RegistryMemory
from steward.tenants.controllers.syncing import Syncs
from steward.tenants.controllers.templates_in_use import TemplatesInUse
from steward.tenants.controllers.writing import FleetWriter
from steward.tenants.marks import FIELD_MANAGER
from steward.tenants.registry_validation import typed
from steward.tenants.rows.row import columns_of, sort_rows
from steward.tenants.views import Registry
from tests.tenants.manifests import registry, template
from tests.tenants.quiet_ground import ground_with

PROD = Key("shop", "prod")
OURS = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}


class Server:
    """Keeps what is applied, as the caches would show it, and counts."""

    def __init__(self) -> None:
        self.ground: Ground
        self.applied: list[str] = []
        self.deleted: list[str] = []
        self.is_down = False
        self._version = 10

    async def carry_out(self, plan: Plan, about: object) -> None:
        for step in plan:
            if self.is_down:
                raise Unreachable("nobody answers")
            if isinstance(step, Apply):
                self.applied.append(step.manifest["metadata"]["name"])
                self.show(step.manifest)
            elif isinstance(step, Delete):
                self.deleted.append(step.ref.key.name)

    def show(self, manifest: dict[str, Any]) -> None:
        self._version += 1
        meta = manifest["metadata"]
        shown = {
            "namespace": "shop",
            "uid": meta["name"],
            "resourceVersion": str(self._version),
            "generation": 1,
            "managedFields": [OURS | {"apiVersion": manifest["apiVersion"]}],
        }
        body = msgspec.json.encode({**manifest, "metadata": {**shown, **meta}})
        self._store(manifest["kind"]).observe(body)

    def _store(self, kind: str) -> Store[Any]:
        rules = self.ground.rules
        watched: tuple[CacheRule[Any], ...] = (
            rules.registry,
            rules.template,
            rules.revision,
            rules.every_tenant,
        )
        return self.ground.store(next(rule for rule in watched if rule.kind.kind == kind))


class Table:
    """A registry with one template, whose table says what the test says."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.ground = server.ground = ground_with(server)
        server.show(registry())
        server.show(template())
        self._put_in_force()
        self.memory = RegistryMemory("r", FleetWriter(self.ground))
        self.is_edited = False
        self.syncs = Syncs(self.ground, TemplatesInUse(self.ground), lambda *_: not self.is_edited)
        self._now = 0.0

    def _put_in_force(self) -> None:
        revisions = self.ground.store(self.ground.rules.revision)
        meta = ObjectMeta(name="web-app", namespace="shop", uid="web-app", generation=1)
        for step in put_in_force(revisions, meta, template()["spec"]):
            assert isinstance(step, Apply)
            self.server.show(step.manifest)

    async def sync(self, *uids: str, approval: str = "") -> list[str]:
        """What is written or deleted for these rows."""
        found = self.ground.store(self.ground.rules.registry).get(PROD)
        assert isinstance(found, Registry)
        spec, _ = typed(found)
        assert spec is not None
        rows = sort_rows(columns_of(spec), [(uid, f"{uid}.example.com", "1") for uid in uids])
        self._now += 10.0
        self.server.applied.clear()
        inputs = Inputs(None, "r", 1, approval, ())
        await self.syncs.take_in(found, spec, self.memory, Finished(self._now, inputs, rows, None))
        return self.server.applied + [f"- {name}" for name in self.server.deleted]


@pytest.fixture
def table() -> Table:
    return Table(Server())


async def at_rest(table: Table, *uids: str) -> None:
    await table.sync(*uids)
    await table.sync(*uids)
    assert table.memory.rest is not None


async def test_a_table_comes_to_rest_when_a_sync_has_found_nothing_to_do(table: Table) -> None:
    assert await table.sync("acme", "bob") == ["acme-web-app", "bob-web-app"]
    assert table.memory.rest is not None
    assert await table.sync("acme", "bob") == []
    rest = table.memory.rest
    assert await table.sync("acme", "bob") == []
    assert table.memory.rest is rest


async def test_a_new_row_ends_the_rest(table: Table) -> None:
    await at_rest(table, "acme", "bob")
    assert await table.sync("acme", "bob", "cat") == ["cat-web-app"]


async def test_a_tenant_that_goes_ends_the_rest(table: Table) -> None:
    await at_rest(table, "acme", "bob")
    table.ground.fleets.tenants.forget(Key("shop", "acme-web-app"), "acme-web-app")
    assert await table.sync("acme", "bob") == ["acme-web-app"]


async def test_a_row_that_is_missed_keeps_the_table_from_resting(table: Table) -> None:
    uids = [f"t{number}" for number in range(9)]
    await at_rest(table, *uids, "acme")
    assert await table.sync(*uids) == []
    assert table.memory.rest is None
    assert await table.sync(*uids) == ["- acme-web-app"]


async def test_an_approval_is_looked_at_though_the_rows_are_the_same(table: Table) -> None:
    await at_rest(table, "acme", "bob")
    before = table.memory.rest
    await table.sync("acme", "bob", approval="1-000000000000")
    assert table.memory.rest != before


async def test_a_table_whose_writes_failed_does_not_rest(table: Table) -> None:
    table.server.is_down = True
    await table.sync("acme")
    assert table.memory.rest is None
    table.server.is_down = False
    assert await table.sync("acme") == ["acme-web-app"]


async def test_an_edit_cuts_the_writing_short_and_the_next_read_goes_on(table: Table) -> None:
    table.is_edited = True
    assert await table.sync("acme", "bob") == []
    assert table.memory.rest is None
    assert table.memory.pending is not None
    table.is_edited = False
    assert await table.sync("acme", "bob") == ["acme-web-app", "bob-web-app"]
    assert table.memory.pending is None
