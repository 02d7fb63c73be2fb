"""Requests that act."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from steward.page.inventory.inventory import REGISTRY
from steward.page.routes.context import PageOptions
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi, User
from tests.page.support.served import Visitor, served_page

VIEW = "/registry/shop/customers"
APPROVE = "approve TenantRegistry/customers"
ACTIONS = PageOptions(allows_actions=True)


def held_api() -> MemoryApi:
    api = MemoryApi()
    api.apply(*sample.sample(), sample.held_registry())
    return api


@pytest.fixture
def api() -> MemoryApi:
    return held_api()


@pytest.fixture
async def visitor(api: MemoryApi) -> AsyncIterator[Visitor]:
    async with served_page(api, ACTIONS) as found:
        await found.open()
        yield found


def annotations(api: MemoryApi) -> dict[str, str]:
    found: dict[str, str] = api.get(REGISTRY, "shop", "customers")["metadata"]["annotations"]
    return found


async def test_actions_are_off_unless_switched_on(api: MemoryApi) -> None:
    async with served_page(api) as visitor:
        await visitor.open()
        assert (await visitor.get(f"/api/actions?view={VIEW}"))[0] == 403
        assert (await visitor.post("/api/action", {"view": VIEW, "id": APPROVE}))[0] == 403


async def test_a_dry_run_shows_what_would_change_and_writes_nothing(api: MemoryApi, visitor: Visitor) -> None:
    _, found = await visitor.post("/api/action", {"view": VIEW, "id": APPROVE})
    assert "+    kubernetes-tenants.org/approve-deletion: 12-0f3c" in found["diff"]
    assert annotations(api) == {}


async def test_a_confirmed_action_is_done_with_the_typed_name(api: MemoryApi, visitor: Visitor) -> None:
    _, found = await visitor.post("/api/action", {"view": VIEW, "id": APPROVE})
    request = {"view": VIEW, "id": APPROVE, "confirmed": found["digest"]}
    assert (await visitor.post("/api/action", {**request, "typed": "wrong"}))[0] == 400
    assert annotations(api) == {}
    assert (await visitor.post("/api/action", {**request, "typed": "customers"}))[0] == 200
    assert annotations(api) == {"kubernetes-tenants.org/approve-deletion": "12-0f3c"}


async def test_what_was_not_shown_is_not_done(api: MemoryApi, visitor: Visitor) -> None:
    request = {"view": VIEW, "id": APPROVE, "confirmed": "another", "typed": "customers"}
    assert (await visitor.post("/api/action", request))[0] == 409
    assert annotations(api) == {}


async def test_only_allowed_actions_are_offered_and_rbac_has_the_last_word() -> None:
    api = held_api()
    api.users["look"] = User("eve", verbs=frozenset({"list", "watch", "get"}))
    async with served_page(api, PageOptions(needs_login=True, allows_actions=True)) as visitor:
        await visitor.log_in("look")
        assert await visitor.get(f"/api/actions?view={VIEW}") == (200, [])
        assert (await visitor.post("/api/action", {"view": VIEW, "id": APPROVE}))[0] == 403
        assert annotations(api) == {}


async def test_allowed_actions_are_listed(visitor: Visitor) -> None:
    _, found = await visitor.get(f"/api/actions?view={VIEW}")
    assert found[0]["id"] == APPROVE


async def test_a_forged_action_is_refused(api: MemoryApi, visitor: Visitor) -> None:
    _, found = await visitor.post("/api/action", {"view": VIEW, "id": APPROVE})
    request = {"view": VIEW, "id": APPROVE, "confirmed": found["digest"], "typed": "customers"}
    assert (await visitor.post("/api/action", request, Origin="https://evil.example"))[0] == 403
    assert (await visitor.post("/api/action", request, **{"X-Steward-Csrf": ""}))[0] == 403
    assert annotations(api) == {}


async def test_a_backup_is_created(api: MemoryApi, visitor: Visitor) -> None:
    request = {"view": "/cluster/shop/db", "id": "backup"}
    _, found = await visitor.post("/api/action", request)
    assert any("kind: MultigresBackup" in line for line in found["diff"])
    before = len(api.objects)
    assert (await visitor.post("/api/action", {**request, "confirmed": found["digest"]}))[0] == 200
    assert len(api.objects) == before + 2
