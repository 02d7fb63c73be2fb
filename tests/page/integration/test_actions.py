"""Actions in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from steward.multigres.cache_rules import SHARD
from steward.page.inventory.inventory import REGISTRY
from steward.page.routes.context import PageOptions
from tests.page.support import sample_objects as sample
from tests.page.support.accessibility import serious_problems
from tests.page.support.memory_api import MemoryApi
from tests.page.support.page_thread import PageThread, page_thread


@pytest.fixture
def acting_page() -> Iterator[PageThread]:
    api = MemoryApi()
    api.apply(*sample.sample(), sample.held_registry())
    with page_thread(api, PageOptions(allows_actions=True)) as served:
        yield served


def test_a_held_deletion_is_approved_by_typing_the_name(page: Page, acting_page: PageThread) -> None:
    page.goto(acting_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    page.get_by_role("button", name="Approve the deletion").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("steward hold approve tenantregistry/customers -n shop")
    expect(dialog.locator(".diff .add").last).to_contain_text("approve-deletion: 12-0f3c")
    confirm = dialog.get_by_role("button", name="Approve the deletion")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type customers to confirm").fill("customers")
    confirm.click()
    expect(dialog.get_by_role("status")).to_contain_text("requested")
    found = acting_page.api.get(REGISTRY, "shop", "customers")
    assert found["metadata"]["annotations"]["kubernetes-tenants.org/approve-deletion"] == "12-0f3c"


def test_without_actions_no_button_is_drawn(page: Page, sample_page: PageThread) -> None:
    sample_page.apply(sample.held_registry())
    page.goto(sample_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    expect(page.locator("h1")).to_have_text("shop/customers")
    expect(page.get_by_role("group", name="Actions")).to_have_count(0)


def test_a_pool_is_restarted_beside_its_shard(page: Page, acting_page: PageThread) -> None:
    page.goto(acting_page.url)
    page.get_by_role("link", name="MultigresCluster shop/db").click()
    shard = page.get_by_role("group", name="Actions on postgres/default/8-inf")
    shard.get_by_role("button", name="Restart pool main").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Restarts 3 servers of pool main of shard postgres/default/8-inf")
    expect(dialog).to_contain_text("steward restart db --pool main --shard postgres/default/8-inf -n shop")
    expect(dialog.locator(".diff .add").last).to_contain_text("restart.multigres.com/main")
    dialog.get_by_role("button", name="Restart pool main").click()
    expect(dialog.get_by_role("status")).to_contain_text("requested")
    found = acting_page.api.get(SHARD, "shop", "db-postgres-default-8-inf")
    assert list(found["metadata"]["annotations"]) == ["restart.multigres.com/main"]


def test_a_registry_is_asked_to_read_its_table(page: Page, acting_page: PageThread) -> None:
    page.goto(acting_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    page.get_by_role("button", name="Sync now").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("steward sync customers -n shop")
    dialog.get_by_role("button", name="Sync now").click()
    expect(dialog.get_by_role("status")).to_contain_text("requested")
    annotations = acting_page.api.get(REGISTRY, "shop", "customers")["metadata"]["annotations"]
    assert list(annotations) == ["kubernetes-tenants.org/sync-request"]


def test_a_pause_is_offered_as_its_end_afterwards(page: Page, acting_page: PageThread) -> None:
    page.goto(acting_page.url)
    page.get_by_role("link", name="TenantTemplate shop/web").click()
    template = page.get_by_role("group", name="Actions on web")
    template.get_by_role("button", name="Pause TenantTemplate web").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("steward pause tenanttemplate/web -n shop")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    dialog.get_by_role("button", name="Close").click()
    expect(template.get_by_role("button", name="Resume TenantTemplate web")).to_be_visible()


def test_a_dialog_closes_by_keyboard_and_the_focus_returns(page: Page, acting_page: PageThread) -> None:
    page.goto(acting_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    button = page.get_by_role("button", name="Sync now")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Sync now")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()


def test_the_dialog_explains_a_refusal(page: Page, acting_page: PageThread) -> None:
    page.goto(acting_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    page.get_by_role("button", name="Approve the deletion").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type customers to confirm").fill("customers")
    acting_page.apply(sample.held_registry(13))
    expect(page.get_by_role("button", name="Approve the deletion of 13 Tenants")).to_be_attached()
    dialog.get_by_role("button", name="Approve the deletion").click()
    expect(dialog.get_by_role("alert")).to_contain_text("something else now than what was shown")


@pytest.mark.parametrize("width", [1280, 360])
def test_an_open_dialog_has_no_serious_accessibility_problem(
    page: Page, acting_page: PageThread, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(acting_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    page.get_by_role("button", name="Approve the deletion").click()
    expect(page.get_by_label("Type customers to confirm")).to_be_visible()
    assert serious_problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
