"""Names, labels, messages, rows and values that attack the page of their reader, and forged requests."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from steward.page.routes.context import PageOptions
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi, User
from tests.page.support.page_thread import PageThread, page_thread

ATTACK = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>\'"&'


FORGED_REQUEST = """(url) => fetch(url, {
    method: "POST", mode: "no-cors", credentials: "include", body: "{}",
}).then(() => true, () => false)"""


def attacked_objects() -> list[dict[str, object]]:
    registry = sample.registry()
    registry["metadata"]["labels"] = {"attack": ATTACK}
    registry["metadata"]["annotations"] = {"attack": ATTACK}
    registry["status"] |= {"rejectedRows": 1, "rejected": [{"uid": ATTACK, "reason": ATTACK}]}
    registry["status"]["conditions"] = [sample.condition("Degraded", "True", ATTACK, ATTACK)]
    tenant = sample.tenant("acme")
    tenant["spec"]["uid"] = ATTACK
    tenant["spec"]["configMaps"][0]["spec"]["data"] = {ATTACK: ATTACK}
    tenant["status"]["conditions"] = [sample.condition("Degraded", "True", ATTACK)]
    named, cluster = sample.cluster(ATTACK), sample.cluster()
    cluster["status"] |= {
        "endpoint": ATTACK,
        "connectionSecret": "javascript:window.attacked=1",
        "phase": ATTACK,
    }
    shard = sample.shard("0-inf", [sample.server(ATTACK, ATTACK, ATTACK, ATTACK)], message=ATTACK)
    shard["spec"] |= {"shardName": ATTACK, "pools": {ATTACK: {"cells": [ATTACK], "replicasPerCell": 1}}}
    shard["status"]["conditions"] = [sample.condition("BackupCertificatesReady", "False", ATTACK)]
    held = {"count": 1, "sample": [ATTACK], "approveWith": ATTACK}
    registry["status"]["heldDeletion"] = held
    registry["status"]["conditions"].append(sample.condition("DeletionHeld", "True", ATTACK))
    template = sample.template("web", message=ATTACK, phase="Failed")
    event = sample.event("e", ("Tenant", "acme-web"), "Attack", ATTACK, "Warning")
    return [registry, template, tenant, named, cluster, shard, sample.deployment("acme-web"), event]


@pytest.fixture
def attacked_page() -> Iterator[PageThread]:
    api = MemoryApi()
    api.apply(*attacked_objects())
    with page_thread(api, PageOptions(allows_actions=True)) as served:
        yield served


def test_hostile_texts_are_shown_as_text(page: Page, attacked_page: PageThread) -> None:
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(attacked_page.url)
    expect(page.locator("main")).to_contain_text(ATTACK)
    for path in ("/cluster/shop/db", "/registry/shop/customers", "/tenant/shop/acme-web"):
        page.goto(attacked_page.origin + path)
        expect(page.locator("main")).to_contain_text(ATTACK)
    page.locator("details").first.locator("summary").click()
    page.keyboard.press("/")
    page.keyboard.type("img")
    expect(page.get_by_role("option").first).to_contain_text("onerror")
    assert page.evaluate("window.attacked") is None
    assert page.locator("main img:not([role])").count() == 0


def test_hostile_texts_in_a_dialog_are_shown_as_text(page: Page, attacked_page: PageThread) -> None:
    page.goto(attacked_page.url)
    page.get_by_role("link", name="TenantRegistry shop/customers").click()
    page.get_by_role("button", name="Approve the deletion").click()
    expect(page.get_by_role("dialog").locator(".diff")).to_contain_text("onerror")
    assert page.evaluate("window.attacked") is None
    assert page.locator("dialog img:not([role]), dialog script").count() == 0


def test_hostile_rows_in_the_lab_are_shown_as_text(page: Page, attacked_page: PageThread) -> None:
    page.goto(attacked_page.url)
    page.get_by_role("link", name="Lab").click()
    page.get_by_label("Rows, as CSV").fill(
        f'[{{"uid": "acme", "hostOrUrl": {json.dumps(ATTACK)}, "activate": 1}}]'
    )
    expect(page.locator("main")).to_contain_text("onerror")
    page.get_by_label("Template, and its registry").fill(f"kind: TenantTemplate\n{ATTACK}: [")
    expect(page.locator("section", has_text="Checks")).to_contain_text("is not valid YAML")
    assert page.evaluate("window.attacked") is None
    assert page.locator("main img:not([role]), main script").count() == 0


def test_every_link_stays_on_the_page(page: Page, attacked_page: PageThread) -> None:
    page.goto(attacked_page.url)
    expect(page.locator("main")).to_contain_text(ATTACK)
    links = page.locator("a").evaluate_all("links => links.map(link => new URL(link.href).origin)")
    assert set(links) == {attacked_page.origin}


def test_the_browser_itself_refuses_code_from_texts(profile_page: Page, attacked_page: PageThread) -> None:
    profile_page.goto(attacked_page.url)
    expect(profile_page.locator("h1")).to_have_text("Now")
    refused = profile_page.evaluate(
        """(attack) => {
            const attempts = [
                () => { document.createElement("script").setAttribute("src", "https://evil.example/x.js"); },
                () => { document.createElement("div").innerHTML = attack; },
                () => { setTimeout(attack); },
            ];
            return attempts.map((attempt) => { try { attempt(); return false; } catch { return true; } });
        }""",
        ATTACK,
    )
    assert refused == [True, True, True]


@pytest.fixture
def profile_page(profile: BrowserContext) -> Page:
    return profile.new_page()


def test_another_site_cannot_use_the_session(profile_page: Page) -> None:
    api = MemoryApi()
    api.users["t"] = User("ada")
    with page_thread(api, PageOptions(needs_login=True)) as served, page_thread(MemoryApi()) as evil:
        profile_page.goto(served.url)
        profile_page.get_by_label("Token").fill("t")
        profile_page.get_by_role("button", name="Log in").click()
        expect(profile_page.locator("h1")).to_have_text("Now")
        profile_page.route(
            f"{evil.origin}/evil", lambda route: route.fulfill(body="<h1>evil</h1>", content_type="text/html")
        )
        profile_page.goto(f"{evil.origin}/evil")
        profile_page.evaluate(FORGED_REQUEST, f"{served.origin}/api/logout")
        profile_page.goto(served.url)
        expect(profile_page.locator("h1")).to_have_text("Now")
