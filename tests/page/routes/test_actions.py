"""Requests that act."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from steward.multigres.cache_rules import SHARD
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


async def test_rights_on_one_object_offer_the_actions_on_that_object() -> None:
    api = held_api()
    api.users["shard"] = User("eve", patched_names=frozenset({"db-postgres-default-0-8"}))
    async with served_page(api, PageOptions(needs_login=True, allows_actions=True)) as visitor:
        await visitor.log_in("shard")
        _, found = await visitor.get("/api/actions?view=/cluster/shop/db")
        assert {each["about"] for each in found if each["id"] != "backup"} == {"postgres/default/0-8"}


async def test_one_review_answers_for_all_objects_of_a_kind(api: MemoryApi, visitor: Visitor) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    before = api.requests.count(("POST", path))
    _, found = await visitor.get("/api/actions?view=/cluster/shop/db")
    assert len(found) == 6
    assert api.requests.count(("POST", path)) - before == 3  # patch clusters, patch shards, create backups


async def test_a_registry_is_asked_to_read_its_table(api: MemoryApi, visitor: Visitor) -> None:
    request = {"view": VIEW, "id": "sync"}
    _, found = await visitor.post("/api/action", request)
    assert any("kubernetes-tenants.org/sync-request" in line for line in found["diff"])
    assert annotations(api) == {}
    assert (await visitor.post("/api/action", {**request, "confirmed": found["digest"]}))[0] == 200
    assert list(annotations(api)) == ["kubernetes-tenants.org/sync-request"]


async def test_a_pool_is_restarted_by_an_annotation_of_its_shard(api: MemoryApi, visitor: Visitor) -> None:
    request = {"view": "/cluster/shop/db", "id": "restart postgres/default/0-8 main"}
    _, found = await visitor.post("/api/action", request)
    assert any("restart.multigres.com/main" in line for line in found["diff"])
    assert (await visitor.post("/api/action", {**request, "confirmed": found["digest"]}))[0] == 200
    shard = api.get(SHARD, "shop", "db-postgres-default-0-8")
    assert list(shard["metadata"]["annotations"]) == ["restart.multigres.com/main"]


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
