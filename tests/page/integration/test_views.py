"""The views in a real browser: content, live changes, search, keyboard, themes, narrow screens, accessibility."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from steward.kube.objects.kinds import ref_of
from tests.page.support import sample_objects as sample
from tests.page.support.page_thread import PageThread

VIEWS = {
    "/now": "Now",
    "/cluster/shop/db": "shop/db",
    "/registry/shop/customers": "shop/customers",
    "/tenant/shop/acme-web": "shop/acme-web",
    "/lab": "Lab",
}


def open_view(page: Page, served: PageThread, path: str = "/now") -> None:
    page.goto(served.url)
    expect(page.locator("h1")).to_have_text("Now")
    if path != "/now":
        page.goto(served.origin + path)
        expect(page.locator("h1")).to_have_text(VIEWS.get(path.partition("?")[0], ""))


def test_problems_are_on_top_with_a_command_to_copy(
    page: Page, profile: BrowserContext, sample_page: PageThread
) -> None:
    profile.grant_permissions(["clipboard-read", "clipboard-write"])
    sample_page.apply(sample.held_registry())
    open_view(page, sample_page)
    first = page.locator("section", has_text="Status").locator("li").first
    expect(first).to_contain_text("TenantRegistry shop/customers has failed")
    first.get_by_role("button", name="Copy").click()
    expect(first.get_by_role("button")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "steward hold approve tenantregistry/customers -n shop"


def test_a_cluster_shows_its_servers_by_cell_and_marks_the_primary(
    page: Page, sample_page: PageThread
) -> None:
    open_view(page, sample_page, "/cluster/shop/db")
    expect(page.locator(".server")).to_have_count(6)
    expect(page.get_by_role("img", name="primary")).to_have_count(2)
    expect(page.locator("main")).to_contain_text("db-multigateway.shop.svc:5432")
    expect(page.locator("main")).to_contain_text("The page never reads it.")


def test_a_registry_filters_its_tenants_and_the_address_keeps_the_filter(
    page: Page, sample_page: PageThread
) -> None:
    open_view(page, sample_page, "/registry/shop/customers")
    rows = page.locator("table.matrix tbody tr")
    expect(rows).to_have_count(12)
    page.get_by_label("Filter by uid").fill("ac")
    expect(rows).to_have_count(1)
    assert "q=ac" in page.url
    page.reload()
    expect(rows).to_have_count(1)
    expect(page.get_by_label("Filter by uid")).to_have_value("ac")


def test_a_tenant_shows_its_objects_beside_the_live_ones(page: Page, sample_page: PageThread) -> None:
    sample_page.apply({**sample.config_map("acme-web-settings")["spec"], "data": {"plan": "lead"}})
    open_view(page, sample_page, "/tenant/shop/acme-web")
    expect(page.locator(".level")).to_have_count(2)
    page.locator(".node", has_text="settings").first.get_by_text("Rendered and live").click()
    expect(page.locator(".diff .add")).to_contain_text(["plan: lead"])


def test_a_new_tenant_appears_without_a_reload(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page, "/registry/shop/customers")
    page.evaluate("window.sameDocument = true")
    sample_page.apply(sample.tenant("nova"), sample.tenant("nova", "db"))
    expect(page.locator("table.matrix tbody tr", has_text="nova")).to_have_count(1)
    assert page.evaluate("window.sameDocument") is True


def test_an_object_that_is_deleted_meanwhile_is_reported(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page, "/tenant/shop/acme-web")
    sample_page.delete(ref_of(sample.tenant("acme")))
    expect(page.locator("h1")).to_have_text("Not found")


def test_a_reader_who_loses_the_connection_catches_up(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page)
    expect(page.locator("#live")).to_have_text("Live")
    sample_page.cut_streams()
    expect(page.locator("#live")).to_have_text("Reconnecting…")
    sample_page.apply(sample.cluster("second"))
    expect(page.locator("main")).to_contain_text("MultigresCluster shop/second")
    expect(page.locator("#live")).to_have_text("Live")


def test_the_focus_stays_where_it_is_when_the_view_changes(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page)
    page.get_by_role("link", name="TenantRegistry shop/customers").focus()
    sample_page.apply(sample.cluster("second"))
    expect(page.locator("main")).to_contain_text("MultigresCluster shop/second")
    expect(page.get_by_role("link", name="TenantRegistry shop/customers")).to_be_focused()


def test_search_finds_an_object_by_keyboard_alone(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page)
    page.keyboard.press("/")
    page.keyboard.type("acme")
    expect(page.get_by_role("option")).to_have_count(4)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("shop/acme-web")
    expect(page.locator("h1")).to_be_focused()


def test_links_work_by_keyboard_and_back_returns(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page)
    page.get_by_role("link", name="MultigresCluster shop/db").press("Enter")
    expect(page.locator("h1")).to_have_text("shop/db")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Now")


def test_the_theme_follows_the_system_until_the_reader_chooses(page: Page, sample_page: PageThread) -> None:
    page.emulate_media(color_scheme="dark")
    open_view(page, sample_page)
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(root).to_have_attribute("data-theme", "light")
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("path", VIEWS)
def test_nothing_is_wider_than_a_phone(page: Page, sample_page: PageThread, path: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    sample_page.apply(sample.held_registry())
    open_view(page, sample_page, path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_views_have_no_serious_accessibility_problem(
    page: Page, sample_page: PageThread, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    sample_page.apply(sample.held_registry(), sample.deployment("acme-web", ready=1))
    open_view(page, sample_page)
    for path, title in VIEWS.items():
        page.goto(sample_page.origin + path)
        expect(page.locator("h1")).to_have_text(title)
        found = Axe().run(page).response["violations"]
        serious = [
            (each["id"], [node["html"] for node in each["nodes"]][:3])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], path
