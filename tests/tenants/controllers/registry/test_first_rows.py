"""The last lists wait until the new rows of every registry are written and applied."""

import asyncio

import msgspec

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.common.tenant_backlog import TenantBacklog
from steward.tenants.controllers.registry.first_rows import FirstRows
from steward.tenants.views import Registry

SHOP, BANK = Key("shop", "customers"), Key("bank", "customers")
NEW = Key("shop", "t1")


class StartedProcess:
    def __init__(self, *registries: Key) -> None:
        store: Store[Registry] = Store(CacheRule(REGISTRY, Registry))
        for key in registries:
            metadata = {"name": key.name, "namespace": key.namespace, "resourceVersion": "1"}
            store.put_watched(0, msgspec.json.encode({"metadata": metadata}))
        self.backlog = TenantBacklog(workers=1)
        self.first_rows = FirstRows(store, self.backlog)
        self.waiting = asyncio.ensure_future(self.first_rows.wait())

    async def are_done(self) -> bool:
        for _ in range(3):
            await asyncio.sleep(0)
        return self.waiting.done()


async def test_every_registry_has_written_its_new_rows() -> None:
    process = StartedProcess(SHOP, BANK)
    process.first_rows.finish(SHOP)
    assert not await process.are_done()
    process.first_rows.finish(BANK)
    assert await process.are_done()


async def test_a_new_tenant_that_is_not_applied_is_waited_for() -> None:
    process = StartedProcess(SHOP)
    process.backlog.add(NEW)
    process.first_rows.finish(SHOP)
    assert not await process.are_done()
    process.backlog.remove(NEW)
    assert await process.are_done()


async def test_nothing_is_waited_for_without_a_registry() -> None:
    assert await StartedProcess().are_done()
