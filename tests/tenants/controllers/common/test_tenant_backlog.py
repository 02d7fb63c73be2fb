"""New Tenants are created while there are few that the Tenant controller has not applied."""

import asyncio
from typing import Any

import msgspec
import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common import tenant_backlog
from steward.tenants.controllers.common.tenant_backlog import PER_WORKER, TenantBacklog
from steward.tenants.views import Tenant

NEW = [Key("shop", f"t{number}") for number in range(PER_WORKER)]
READY = {"type": "Ready", "status": "False", "reason": "R", "message": "", "lastTransitionTime": ""}


class Fleet:
    """A backlog of one worker that is full, and the Tenants of which it hears."""

    def __init__(self) -> None:
        self.store: Store[Tenant] = Store(CacheRule(TENANT_KIND, Tenant))
        self.store.finish_list(0, set(), "1")
        self.backlog = TenantBacklog(workers=1)
        self.store.subscribe(self.backlog.on_change)
        for key in NEW:
            self.backlog.add(key)

    def watch(self, key: Key, version: int, **status: Any) -> None:
        metadata = {
            "name": key.name,
            "namespace": key.namespace,
            "uid": key.name,
            "resourceVersion": str(version),
        }
        self.store.put_watched(0, msgspec.json.encode({"metadata": metadata, "status": status}))

    async def has_room(self) -> bool:
        waiting = asyncio.ensure_future(self.backlog.wait_for_room())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        has_room = waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return has_room


async def test_a_tenant_with_a_status_makes_room() -> None:
    fleet = Fleet()
    fleet.watch(NEW[0], 2)
    assert not await fleet.has_room()
    fleet.watch(NEW[0], 3, conditions=[READY])
    assert await fleet.has_room()


async def test_a_tenant_whose_objects_are_applied_makes_room() -> None:
    fleet = Fleet()
    fleet.backlog.remove(NEW[0])
    assert await fleet.has_room()


async def test_a_deleted_tenant_makes_room() -> None:
    fleet = Fleet()
    fleet.watch(NEW[0], 2)
    fleet.store.observe_delete(NEW[0], NEW[0].name)
    assert await fleet.has_room()


async def test_the_one_that_waits_continues_when_there_is_room() -> None:
    fleet = Fleet()
    waiting = asyncio.ensure_future(fleet.backlog.wait_for_room())
    await asyncio.sleep(0)
    fleet.watch(NEW[1], 2, conditions=[READY])
    await waiting
    assert await fleet.has_room()


async def test_a_full_backlog_in_which_nothing_is_applied_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tenant_backlog, "PATIENCE_SECONDS", 0.01)
    fleet = Fleet()
    async with asyncio.timeout(10):
        await fleet.backlog.wait_for_room()


async def test_it_is_empty_when_every_new_tenant_has_a_status() -> None:
    fleet = Fleet()
    waiting = asyncio.ensure_future(fleet.backlog.wait_until_empty())
    for version, key in enumerate(NEW, start=2):
        await asyncio.sleep(0)
        assert not waiting.done()
        fleet.watch(key, version, conditions=[READY])
    async with asyncio.timeout(10):
        await waiting
