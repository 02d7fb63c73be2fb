"""Actions in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from steward.page.inventory.inventory import REGISTRY
from steward.page.routes.context import PageOptions
from tests.page.support import sample_objects as sample
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
