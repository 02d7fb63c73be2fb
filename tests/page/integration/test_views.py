"""The views in a real browser: content, live changes, search, keyboard, themes, narrow screens, accessibility."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from steward.kube.objects.kinds import CONFIG_MAP, ref_of
from tests.page.support import sample_objects as sample
from tests.page.support.accessibility import serious_problems
from tests.page.support.page_thread import PageThread
from tests.page.support.sample_objects import waiting_update

SETTINGS = "/api/v1/namespaces/shop/configmaps/acme-web-settings"
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
    assert serious_problems(page) == []


def test_an_address_without_a_view_is_reported_and_leads_back(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page)
    page.goto(f"{sample_page.origin}/cluster/shop")
    expect(page.locator("h1")).to_have_text("Not found")
    page.get_by_role("main").get_by_role("link", name="Now").click()
    expect(page.locator("h1")).to_have_text("Now")


def test_a_used_address_says_how_to_open_the_page(
    page: Page, profile: BrowserContext, sample_page: PageThread
) -> None:
    used = sample_page.url
    open_view(page, sample_page)
    page.goto(used)
    expect(page.locator("h1")).to_have_text("Now")
    profile.clear_cookies()
    page.goto(used)
    expect(page.locator("main")).to_contain_text("open the address that `steward page` printed")


def test_a_page_that_was_not_loaded_whole_is_loaded_again(page: Page, sample_page: PageThread) -> None:
    page.route("**/static/views/lab.js", lambda route: route.abort(), times=1)
    page.goto(sample_page.url)
    expect(page.locator("h1")).to_have_text("Now")


def test_a_page_that_cannot_be_loaded_says_so(page: Page, sample_page: PageThread) -> None:
    page.route("**/static/views/lab.js", lambda route: route.abort())
    page.goto(sample_page.url)
    expect(page.locator("main")).to_contain_text("The page could not be loaded")


def test_a_server_that_does_not_answer_at_first_is_asked_again(page: Page, sample_page: PageThread) -> None:
    page.route("**/api/session", lambda route: route.abort(), times=1)
    page.goto(sample_page.url)
    expect(page.locator("main")).to_contain_text("Trying again…")
    expect(page.locator("h1")).to_have_text("Now")


def test_a_registry_shows_its_rows_and_how_long_a_read_took(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page, "/registry/shop/customers")
    source = page.locator("section", has=page.get_by_role("heading", name="Source"))
    expect(source.locator("dd", has_text="inactive")).to_have_text("12 active3 inactive0 rejected")
    expect(source).to_contain_text("read in 0.04s")


def test_a_paused_cluster_is_noted_with_its_command(page: Page, sample_page: PageThread) -> None:
    paused = sample.cluster()
    paused["status"]["conditions"].append(sample.condition("Paused", "True"))
    sample_page.apply(paused)
    open_view(page, sample_page)
    line = page.locator("section", has_text="Status").locator("li", has_text="MultigresCluster shop/db")
    expect(line.locator("code")).to_have_text("steward resume multigrescluster/db -n shop")


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


def test_a_search_that_fails_is_not_called_empty(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page)
    page.route("**/api/search*", lambda route: route.abort())
    page.keyboard.press("/")
    page.keyboard.type("acme")
    expect(page.get_by_role("option")).to_have_text("The server of the page does not answer.")


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
        assert serious_problems(page) == [], path


def test_the_login_and_search_have_no_serious_accessibility_problem(
    page: Page, sample_page: PageThread
) -> None:
    page.goto(sample_page.origin)
    expect(page.locator("h1")).to_be_visible()
    assert serious_problems(page) == []
    open_view(page, sample_page)
    page.keyboard.press("/")
    page.keyboard.type("acme")
    expect(page.get_by_role("option").first).to_be_visible()
    assert serious_problems(page) == []


def test_a_cluster_shows_when_its_certificates_end(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page, "/cluster/shop/db")
    lines = page.get_by_role("table", name="Certificates").locator("tbody tr")
    expect(lines).to_have_count(3)
    expect(lines.nth(0)).to_contain_text("db-gateway-tls")
    expect(lines.nth(0)).to_contain_text("in 79 d")
    expect(lines.nth(1)).to_contain_text("db-postgres-default-0-8-pgbackrest-tls")
    expect(lines.nth(1)).to_contain_text("in 299 d")


def test_a_cluster_without_tls_says_so(page: Page, sample_page: PageThread) -> None:
    sample_page.apply(sample.cluster(spec={"cells": []}))
    open_view(page, sample_page, "/cluster/shop/db")
    certificates = page.locator("section", has=page.get_by_role("heading", name="Certificates"))
    expect(certificates).to_contain_text("Gateways offer no TLS")
    expect(certificates.locator("tbody tr")).to_have_count(2)


def test_a_tenant_leads_back_to_its_registry(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page, "/tenant/shop/acme-web")
    page.get_by_role("navigation", name="Belongs to").get_by_role("link", name="customers").click()
    expect(page.locator("h1")).to_have_text("shop/customers")


def test_a_line_leads_from_an_object_to_the_one_that_waits_for_it(
    page: Page, sample_page: PageThread
) -> None:
    open_view(page, sample_page, "/tenant/shop/acme-web")
    expect(page.locator(".levels > svg path")).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator(".levels > svg path")).to_have_count(0)
    expect(page.locator(".node", has_text="after settings")).to_be_visible()


def test_a_held_deletion_names_its_tenants_as_links(page: Page, sample_page: PageThread) -> None:
    sample_page.apply(sample.held_registry())
    open_view(page, sample_page)
    page.locator("section", has_text="Held deletions").get_by_role("link", name="acme-web").click()
    expect(page.locator("h1")).to_have_text("shop/acme-web")


def test_a_waiting_update_is_shown_as_a_diff_with_its_revisions(page: Page, sample_page: PageThread) -> None:
    sample_page.apply(*waiting_update())
    open_view(page, sample_page, "/cluster/shop/db")
    expect(page.locator("section", has_text="Waiting update").locator(".diff .add")).to_contain_text(
        "multiorch.replicas: 3"
    )
    expect(page.get_by_role("table", name="Template revisions")).to_contain_text("db-standard-1")


def test_the_lab_checks_renders_and_compares_as_one_types(page: Page, sample_page: PageThread) -> None:
    sample_page.apply({**sample.config_map("acme-settings")["spec"], "data": {"host": "old.example.com"}})
    open_view(page, sample_page, "/lab")
    template = page.get_by_label("Template, and its registry")
    template.fill(
        template.input_value().replace("metadata:\n  name: web", "metadata:\n  name: web\n  namespace: shop")
    )
    expect(page.locator("details", has_text="ConfigMap acme-settings")).to_contain_text("changed")
    expect(page.locator(".diff .del")).to_contain_text(["host: acme.example.com"])
    template.fill("kind: TenantTemplate\nspec: {")
    expect(page.locator("section", has_text="Checks")).to_contain_text("is not valid YAML")
    assert [method for method, _ in sample_page.api.requests if method in ("PATCH", "PUT", "DELETE")] == []


def test_objects_that_tenants_have_left_behind_are_listed_on_demand(
    page: Page, sample_page: PageThread
) -> None:
    labels = {"kubernetes-tenants.org/orphaned": "true"}
    sample_page.apply(sample.manifest(CONFIG_MAP, "acme-old", labels=labels))
    open_view(page, sample_page, "/tenant/shop/acme-web")
    page.get_by_text("All that Tenants have left in namespace shop").click()
    expect(page.locator("section", has_text="Kept objects")).to_contain_text("acme-old: kept after a Tenant")


def test_what_was_opened_stays_while_the_view_changes(page: Page, sample_page: PageThread) -> None:
    open_view(page, sample_page, "/tenant/shop/acme-web")
    page.locator(".node", has_text="settings").first.get_by_text("Rendered and live").click()
    expect(page.locator("details[open]")).to_contain_text("does not exist")
    reads = sample_page.api.requests.count(("GET", SETTINGS))
    sample_page.apply(sample.event("three", ("Tenant", "acme-web"), "Noted", "something has happened"))
    expect(page.locator("main")).to_contain_text("something has happened")
    expect(page.locator("details[open]")).to_contain_text("does not exist")
    assert sample_page.api.requests.count(("GET", SETTINGS)) == reads
