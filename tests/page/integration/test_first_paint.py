"""What a browser shows while the server reads the first lists: aggregates at once, lists when they are there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.page.support import sample_objects as sample
from tests.page.support.accessibility import serious_problems
from tests.page.support.memory_api import MemoryApi
from tests.page.support.page_thread import PageThread, page_thread


@pytest.fixture
def slow_page() -> Iterator[PageThread]:
    """Tenants, Shards and Deployments are not read until the test says so."""
    api = MemoryApi()
    api.apply(*sample.sample())
    api.withheld = frozenset({"Tenant", "Shard", "Deployment"})
    with page_thread(api) as served:
        yield served


def test_now_is_painted_before_any_tenant_is_read(page: Page, slow_page: PageThread) -> None:
    page.goto(slow_page.url)
    expect(page.locator("#live")).to_have_text("Reading…")
    expect(page.locator(".tile", has_text="Tenants").locator(".number")).to_have_text("24")
    expect(page.locator("main")).to_contain_text("TenantRegistry shop/customers: ready, 23 of 24 Tenants")
    slow_page.send_withheld()
    expect(page.locator("#live")).to_have_text("Live")
    expect(page.locator("main")).to_contain_text("TenantRegistry shop/customers: ready, 48 parts")


def test_the_tenants_of_a_registry_appear_when_they_are_read(page: Page, slow_page: PageThread) -> None:
    page.goto(slow_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    expect(page.locator("section", has_text="Source").first).to_contain_text("3 inactive")
    expect(page.locator("main")).to_contain_text("Reading 24 Tenants…")
    slow_page.send_withheld()
    expect(page.locator("table.matrix tbody tr")).to_have_count(12)


def test_a_cluster_says_that_its_servers_are_being_read(page: Page, slow_page: PageThread) -> None:
    page.goto(slow_page.url)
    page.get_by_role("link", name="MultigresCluster shop/db").click()
    expect(page.locator("main")).to_contain_text("Reading servers, volumes and backups…")
    expect(page.locator("main")).not_to_contain_text("No shard yet")
    slow_page.send_withheld()
    expect(page.locator(".server")).to_have_count(6)


def test_a_search_finds_more_when_more_is_read(page: Page, slow_page: PageThread) -> None:
    page.goto(slow_page.url)
    expect(page.locator("h1")).to_have_text("Now")
    page.keyboard.press("/")
    page.keyboard.type("acme-web")
    expect(page.get_by_role("option")).to_have_text("Still reading: there may be more")
    slow_page.send_withheld()
    expect(page.get_by_role("option").first).to_contain_text("shop/acme-web")


@pytest.mark.parametrize(
    "path", ["/now", "/cluster/shop/db", "/registry/shop/customers", "/tenant/shop/acme-web"]
)
def test_a_view_that_is_being_read_fits_a_phone_and_is_accessible(
    page: Page, slow_page: PageThread, path: str
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(slow_page.url)
    expect(page.locator("h1")).to_be_visible()
    page.goto(slow_page.origin + path)
    expect(page.locator("#live")).to_have_text("Reading…")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious_problems(page) == []
