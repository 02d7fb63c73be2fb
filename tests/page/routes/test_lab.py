"""Requests of the lab."""

from __future__ import annotations

from steward.kube.objects.kinds import Key
from steward.page.routes.lab import template_text
from tests.page.support import sample_objects as sample
from tests.page.support.lab_texts import ROWS, TEMPLATE
from tests.page.support.memory_api import MemoryApi
from tests.page.support.served import served_page
from tests.page.support.snapshots import snapshot_of


async def test_objects_are_compared_with_the_live_ones_and_nothing_is_written() -> None:
    api = MemoryApi()
    live = {**sample.config_map("acme-settings")["spec"], "data": {"host": "old.example.com"}}
    api.apply({**live, "metadata": {"name": "acme-settings", "namespace": "default"}})
    before = dict(api.objects)
    async with served_page(api) as visitor:
        await visitor.open()
        rows = ROWS + "birch,https://birch.example.com,true\n"
        _, found = await visitor.post("/api/lab", {"manifests": TEMPLATE, "rows": rows})
    assert [(each["name"], each["change"]) for each in found["objects"]] == [
        ("acme-settings", "changed"),
        ("birch-settings", "new"),
    ]
    assert api.objects == before
    assert {method for method, path in api.requests if "configmaps" in path} == {"GET"}


async def test_a_forged_request_does_not_reach_the_lab() -> None:
    async with served_page(MemoryApi()) as visitor:
        await visitor.open()
        status, _ = await visitor.post("/api/lab", {"manifests": TEMPLATE}, Origin="https://evil.example")
        assert status == 403


async def test_a_long_text_is_refused() -> None:
    async with served_page(MemoryApi()) as visitor:
        await visitor.open()
        status, _ = await visitor.post("/api/lab", {"manifests": "x" * 300_000})
        assert status == 413


async def test_a_template_of_the_cluster_is_loaded_with_its_registry() -> None:
    api = MemoryApi()
    api.apply(*sample.sample())
    async with served_page(api) as visitor:
        await visitor.open()
        _, names = await visitor.get("/api/templates")
        assert names == ["shop/db", "shop/web"]
        _, found = await visitor.get("/api/template?name=shop/web")
        assert "kind: TenantRegistry" in found["text"]
        assert (await visitor.get("/api/template?name=shop/none"))[0] == 404


def test_the_text_of_a_template_has_no_status() -> None:
    text = template_text(snapshot_of(sample.template("web")), Key("shop", "web"))
    assert "status" not in text
    assert "resourceVersion" not in text
