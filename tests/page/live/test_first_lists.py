"""What views show while the first lists are read: a fleet of ten thousand Tenants takes seconds."""

from __future__ import annotations

import asyncio

import pytest

from steward.kube.objects.kinds import ref_of
from steward.page.live import workspace as workspaces
from steward.page.live.streams import view_events
from steward.page.live.workspace import Workspace
from steward.page.models.addresses import parse_address
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi
from tests.page.support.readers import EVERYTHING, StreamReader, running, sample_api

PARTS = frozenset({"Tenant", "Shard", "Deployment"})


def slow_api() -> MemoryApi:
    """The lists of Tenants, Shards and Deployments are sent when the test says so."""
    api = sample_api()
    api.withheld = PARTS
    return api


async def test_now_shows_the_counts_of_registries_before_any_tenant_is_read() -> None:
    api = slow_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/now")
        await reader.read()
        tenants = next(each for each in reader.sections["counts"] if each["kind"] == "Tenant")
        assert (tenants["ready"], tenants["waiting"]) == (23, 1)
        texts = [each["text"] for each in reader.sections["sentences"]["shown"]]
        assert any("23 of 24 Tenants are ready" in text for text in texts)
        assert any("MultigresCluster shop/db: ready, its parts are being read" in text for text in texts)
        await reader.close()


async def test_the_view_is_complete_when_the_lists_are() -> None:
    api = slow_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/registry/shop/customers")
        await reader.read()
        assert reader.sections["tenants"]["rows"] == []
        assert reader.sections["tenants"]["counts"]["ready"] == 23
        assert len(reader.sections["templates"]) == 2
        api.send_withheld()
        await reader.read_all()
        assert reader.sections["reading"] is None
        assert reader.sections["tenants"]["matching"] == 12
        await reader.close()


async def test_the_number_of_objects_that_have_been_read_grows() -> None:
    api = slow_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/now")
        await reader.read()
        before = reader.sections["reading"]["objects"]
        api.apply(sample.tenant("nova"))
        await reader.read_until("reading", lambda reading: reading["objects"] > before)
        await reader.close()


async def test_a_cluster_shows_its_head_and_claims_nothing_about_parts_that_are_unread() -> None:
    api = slow_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/cluster/shop/db")
        await reader.read()
        assert reader.sections["head"]["endpoint"] == "db-multigateway.shop.svc:5432"
        assert not {"grid", "backups", "volumes", "missing"} & reader.sections.keys()
        api.send_withheld()
        await reader.read_all()
        assert len(reader.sections["grid"]["rows"]) == 2
        await reader.close()


async def test_a_tenant_is_read_alone_before_the_list_has_it() -> None:
    api = slow_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/tenant/shop/acme-web")
        await reader.read()
        assert reader.sections["head"]["uid"] == "acme"
        assert [level[0]["id"] for level in reader.sections["levels"]] == ["settings", "app"]
        await reader.close()


async def test_a_tenant_that_does_not_exist_is_reported_before_the_list_is_read() -> None:
    async with running(slow_api()) as workspace:
        reader = StreamReader(workspace, "/tenant/shop/absent")
        await reader.read()
        assert "tenant/absent" in reader.sections["missing"]
        await reader.close()


async def test_the_cluster_of_a_tenant_has_its_view_before_the_tenant_is_read() -> None:
    api = slow_api()
    owned = sample.cluster("acme-db")
    owned["metadata"]["labels"] = {
        "kubernetes-tenants.org/tenant": "acme-web",
        "kubernetes-tenants.org/tenant-namespace": "shop",
    }
    api.apply(owned)
    async with running(api) as workspace:
        reader, now = StreamReader(workspace, "/cluster/shop/acme-db"), StreamReader(workspace, "/now")
        await reader.read()
        assert reader.sections["head"]["object"]["name"] == "acme-db"
        await now.read()
        assert now.sections["counts"][0] == {
            "kind": "MultigresCluster",
            "failed": 0,
            "waiting": 0,
            "ready": 1,
        }
        await reader.close()
        await now.close()


async def test_roots_that_change_while_parts_are_read_are_shown() -> None:
    api = slow_api()
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/now")
        await reader.read()
        api.apply(sample.cluster("second"))
        await reader.read_until("counts", lambda counts: counts[0]["ready"] == 2)
        api.delete(ref_of(sample.cluster("second")))
        await reader.read_until("counts", lambda counts: counts[0]["ready"] == 1)
        assert reader.sections["reading"]
        await reader.close()


async def test_a_list_that_never_ends_does_not_hold_the_others_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workspaces, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(workspaces, "PROGRESS_SECONDS", 0.1)
    api = sample_api()
    api.withheld = frozenset({"Pod"})
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/registry/shop/customers")
        await reader.read_all()
        assert reader.sections["tenants"]["matching"] == 12
        await reader.close()
        assert workspace.snapshot.problems == ("The list of Pod has not been read yet.",)


async def test_kinds_that_are_not_installed_are_not_waited_for() -> None:
    api = sample_api()
    api.unserved = frozenset({"MultigresBackup", "Shard", "TenantTemplate"})
    async with running(api) as workspace:
        reader = StreamReader(workspace, "/now")
        await reader.read_all()
        assert reader.sections["problems"] == []
        await reader.close()


async def test_a_reader_sees_progress_while_not_even_the_roots_are_read() -> None:
    api = MemoryApi()
    workspace = Workspace(api.client(), EVERYTHING)  # not started: nothing is read
    address = parse_address("/now")
    assert address is not None
    events = view_events(workspace, address, "")
    async with asyncio.timeout(20):
        assert (await anext(events)).startswith(b"retry:")
        assert await anext(events) == b'event: progress\ndata: {"objects":0}\n\n'
    await events.aclose()
