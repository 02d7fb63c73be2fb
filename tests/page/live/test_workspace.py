"""A workspace follows its objects, and streams send what changes."""

from __future__ import annotations

from typing import Any

from steward.kube.objects.kinds import ref_of
from steward.multigres.cache_rules import CLUSTER
from steward.page.models.addresses import parse_address
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi
from tests.page.support.readers import StreamReader, running, sample_api


async def test_a_stream_begins_with_all_sections_and_goes_on_with_those_that_change() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/registry/shop/customers")
        assert {"head", "tenants", "guard"} <= (await reader.read_all()).keys()
        api.apply(sample.tenant("nova"))
        await reader.read_until("tenants", lambda tenants: tenants["matching"] == 13)
        api.apply(sample.held_registry())
        changed: dict[str, Any] = {}
        while "guard" not in changed:
            changed = await reader.read()
        assert "tenants" not in changed
        await reader.close()


async def test_a_deleted_object_is_gone_from_the_view() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/cluster/shop/db")
        await reader.read_all()
        api.delete(ref_of(sample.cluster()))
        await reader.read_until("missing", bool)
        assert reader.sections["head"] is None
        assert "multigrescluster/db" in reader.sections["missing"]
        await reader.close()


async def test_a_reader_who_missed_nothing_gets_only_what_changes() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/registry/shop/customers?q=acme")
        await reader.read_all()
        await reader.close()
        again = StreamReader(workspace, "/registry/shop/customers?q=acme", reader.identifier)
        api.apply(sample.held_registry())
        assert "tenants" not in await again.read()
        await again.close()


async def test_a_reader_who_missed_a_change_gets_everything() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/registry/shop/customers?q=acme")
        await reader.read_all()
        await reader.close()
        version = workspace.snapshot.version
        api.apply(sample.held_registry())
        await workspace.wait_newer(version)
        again = StreamReader(workspace, "/registry/shop/customers?q=acme", reader.identifier)
        assert "tenants" in await again.read()
        await again.close()


async def test_events_of_the_namespace_are_watched_while_a_view_is_open() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/tenant/shop/acme-web")
        await reader.read_until("drift", bool)
        assert "Event" in {watcher.kind.kind for watcher in api.watchers}
        await reader.close()
        assert "Event" not in {watcher.kind.kind for watcher in api.watchers}


async def test_a_cut_watch_loses_nothing() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/now")
        await reader.read_all()
        api.cut_watches()
        api.apply(sample.cluster("second"))
        await reader.read_until("counts", lambda counts: counts[0]["ready"] == 2)
        await reader.close()


async def test_readers_of_a_view_share_what_is_rendered() -> None:
    async with running(sample_api()) as workspace:
        await workspace.wait_complete()
        address = parse_address("/now")
        assert address is not None
        assert await workspace.render(address) is await workspace.render(address)


async def test_secrets_are_never_requested() -> None:
    api = sample_api()
    async with running(api) as workspace:
        for view in ("/now", "/cluster/shop/db", "/registry/shop/customers", "/tenant/shop/acme-web"):
            reader = StreamReader(workspace, view)
            await reader.read_all()
            await reader.close()
    assert not [path for _, path in api.requests if "secrets" in path]


async def test_the_actions_are_read_again_only_when_others_are_possible() -> None:
    api = MemoryApi()
    api.apply(*sample.sample())
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/registry/shop/customers")
        before = (await reader.read_all())["actions"]
        changed = sample.registry()
        changed["status"]["activeRows"] = 13
        api.apply(changed)
        await reader.read_until("source", lambda source: source["activeRows"] == 13)
        assert reader.sections["actions"] == before
        changed["spec"]["paused"] = True
        api.apply(changed)
        await reader.read_until("head", lambda head: head["paused"])
        assert reader.sections["actions"] != before
        await reader.close()


async def test_claims_of_lost_clusters_are_shown_only_to_readers_who_may_see_clusters() -> None:
    api = MemoryApi()
    api.apply(*sample.claims())
    async with running(api) as workspace:
        await workspace.wait_complete()
        assert workspace.snapshot.are_clusters_known
    async with running(api, without=CLUSTER) as workspace:
        await workspace.wait_complete()
        assert not workspace.snapshot.are_clusters_known
