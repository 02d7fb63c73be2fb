"""Readers who log in: wrong and expired tokens, few rights, one namespace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from steward.page.routes.context import PageOptions
from tests.page.support import sample_objects as sample
from tests.page.support.accessibility import serious_problems
from tests.page.support.memory_api import MemoryApi, User
from tests.page.support.page_thread import PageThread, page_thread


@pytest.fixture
def login_page() -> Iterator[PageThread]:
    api = MemoryApi()
    api.apply(*sample.sample())
    nothing = frozenset({"MultigresCluster", "TenantRegistry"})
    api.users = {
        "all": User("ada"),
        "shop-only": User("bob", namespaces=frozenset({"shop"})),
        "none": User("eve", denied=nothing),
    }
    with page_thread(api, PageOptions(needs_login=True)) as served:
        yield served


def log_in(page: Page, served: PageThread, token: str, namespaces: str = "") -> None:
    page.goto(served.url)
    page.get_by_label("Token").fill(token)
    page.get_by_label("Namespaces").fill(namespaces)
    page.get_by_role("button", name="Log in").click()


def test_an_anonymous_visitor_sees_a_login_and_nothing_else(page: Page, login_page: PageThread) -> None:
    page.goto(f"{login_page.origin}/cluster/shop/db")
    expect(page.locator("h1")).to_have_text("Log in")
    expect(page.get_by_role("searchbox")).to_have_count(0)
    assert "db-multigateway" not in page.content()


def test_a_wrong_token_is_refused_in_words(page: Page, login_page: PageThread) -> None:
    log_in(page, login_page, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("does not accept this token")


def test_a_reader_logs_in_sees_the_shared_address_and_logs_out(page: Page, login_page: PageThread) -> None:
    page.goto(f"{login_page.origin}/cluster/shop/db")
    page.get_by_label("Token").fill("all")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("h1")).to_have_text("shop/db")
    expect(page.locator("footer")).to_contain_text("ada")
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("h1")).to_have_text("Log in")


def test_an_expired_token_ends_at_the_login(page: Page, login_page: PageThread) -> None:
    log_in(page, login_page, "all")
    expect(page.locator("h1")).to_have_text("Now")
    login_page.expire("all")
    expect(page.locator("h1")).to_have_text("Log in")
    assert "MultigresCluster shop/db" not in page.content()


def test_a_reader_of_one_namespace_names_it_at_the_login(page: Page, login_page: PageThread) -> None:
    log_in(page, login_page, "shop-only", "shop")
    expect(page.locator("main")).to_contain_text("MultigresCluster shop/db")
    expect(page.locator("footer")).to_contain_text("shop")


def test_a_reader_without_rights_sees_what_is_missing(page: Page, login_page: PageThread) -> None:
    log_in(page, login_page, "none")
    expect(page.locator("h1")).to_have_text("Now")
    expect(page.locator("main")).to_contain_text("You may read neither clusters nor registries")


def test_a_token_that_expires_in_the_lab_ends_at_the_login(page: Page, login_page: PageThread) -> None:
    log_in(page, login_page, "all")
    page.get_by_role("link", name="Lab").click()
    expect(page.locator("section", has_text="Checks")).to_contain_text("No problems.")
    login_page.refuse("all")
    page.get_by_label("Rows, as CSV").fill("uid,hostOrUrl,activate\nnova,https://nova.example.com,true\n")
    expect(page.locator("h1")).to_have_text("Log in")
    expect(page.get_by_role("alert")).to_contain_text("no longer accepts your token: log in again")


def test_the_login_and_a_view_without_rights_have_no_serious_accessibility_problem(
    page: Page, login_page: PageThread
) -> None:
    page.goto(login_page.url)
    expect(page.locator("h1")).to_have_text("Log in")
    assert serious_problems(page) == []
    log_in(page, login_page, "none")
    expect(page.locator("main")).to_contain_text("You may read neither clusters nor registries")
    assert serious_problems(page) == []
