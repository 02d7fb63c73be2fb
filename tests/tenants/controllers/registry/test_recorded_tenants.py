"""A Tenant is given another spec only when its status records the objects of the present one."""

import asyncio
from typing import Any

import msgspec
import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.registry import tenant_writer
from steward.tenants.controllers.registry.first_rows import FirstRows
from steward.tenants.controllers.registry.recorded_tenants import RecordedTenants
from steward.tenants.controllers.registry.tenant_writer import TenantWriter, WritePacing
from steward.tenants.views import Tenant
from steward.testkit.clock import let_others_run
from tests.tenants.support.offline_registry import OfflineRegistry, Server

ACME = Key("shop", "acme")
CONDITION = {"type": "Ready", "status": "False", "reason": "R", "message": "", "lastTransitionTime": ""}
NOT_OBSERVED = {"observedGeneration": -1}
RENDERED = {"templateGeneration": 1}
OLD_HOST, NEW_HOST = ("acme", "acme.example.com", "1"), ("acme", "acme.example.org", "1")


@pytest.mark.parametrize(
    ("spec", "status", "is_recorded"),
    [
        pytest.param(RENDERED, NOT_OBSERVED, False, id="new"),
        pytest.param(RENDERED, {"conditions": [CONDITION]}, True, id="with a status"),
        pytest.param({}, NOT_OBSERVED, True, id="never rendered"),
    ],
)
def test_which_tenants_are_recorded(spec: dict[str, Any], status: dict[str, Any], is_recorded: bool) -> None:
    store: Store[Tenant] = Store(CacheRule(TENANT_KIND, Tenant))
    metadata = {"name": "acme", "namespace": "shop", "uid": "t", "resourceVersion": "1"}
    manifest = {"metadata": metadata, "spec": spec, "status": status}
    store.put_watched(0, msgspec.json.encode(manifest))
    assert (ACME in RecordedTenants(store)) == is_recorded


def test_a_tenant_that_does_not_exist_has_nothing_to_record() -> None:
    assert ACME in RecordedTenants(Store(CacheRule(TENANT_KIND, Tenant)))


class PacedRegistry(OfflineRegistry):
    """A registry whose writer waits for records, with the Tenant of one row, which has no status yet."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        context = self.context
        first_rows = FirstRows(context.store(context.rules.registry), context.backlog)
        recorded = RecordedTenants(context.fleets.tenants)
        pacing = WritePacing(context.backlog, first_rows, recorded)
        self.state.writer = TenantWriter(context, pacing)


@pytest.fixture
async def registry() -> PacedRegistry:
    found = PacedRegistry(Server())
    assert await found.sync_rows([OLD_HOST]) == ["acme-web-app"]
    return found


async def test_a_changed_row_waits_until_the_objects_of_its_tenant_are_recorded(
    registry: PacedRegistry,
) -> None:
    changed = asyncio.create_task(registry.sync_rows([NEW_HOST]))
    await let_others_run()
    assert registry.server.applied == []
    registry.server.make_ready("acme-web-app")
    assert await changed == ["acme-web-app"]
    assert registry.state.write_failure is None


async def test_other_rows_do_not_wait_for_it(registry: PacedRegistry) -> None:
    new = ("bolt", "bolt.example.com", "1")
    changed = asyncio.create_task(registry.sync_rows([NEW_HOST, new]))
    await let_others_run()
    assert registry.server.applied == ["bolt-web-app"]
    registry.server.make_ready("acme-web-app")
    assert await changed == ["bolt-web-app", "acme-web-app"]


async def test_an_edit_ends_the_wait(registry: PacedRegistry) -> None:
    changed = asyncio.create_task(registry.sync_rows([("bolt", "bolt.example.com", "1"), NEW_HOST]))
    await let_others_run()
    registry.is_edited = True
    registry.server.make_ready("acme-web-app")
    assert await changed == ["bolt-web-app"]
    assert registry.state.pending_rows is not None


async def test_a_tenant_that_stays_without_a_status_is_named_and_tried_again(
    registry: PacedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_writer, "RECORD_SECONDS", 0.01)
    assert await registry.sync_rows([NEW_HOST]) == []
    assert "Tenant acme-web-app must change and has no status yet" in str(registry.state.write_failure)
    registry.server.make_ready("acme-web-app")
    assert await registry.write_pending() == ["acme-web-app"]
    assert registry.state.write_failure is None
