"""`steward page` on a real control plane with the sample of `steward up`: every view, and what changes while one looks.

All tests share one cluster and one page: they run in order, and each leaves the sample as the next one expects it.
"""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from steward.cli.main import ExitCode
from steward.local.sample.namespace import TABLE_FILE
from steward.local.settings import Layout
from tests.cli.support.shell import Shell, read_until
from tests.page.support.accessibility import serious_problems

pytestmark = [pytest.mark.timeout(1200), pytest.mark.needs_server]

CHANGE_MILLISECONDS = 120_000


class Cluster(NamedTuple):
    """The shell, and the one-time URL of the page that `steward up` printed."""

    shell: Shell
    url: str


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    shell = Shell(tmp_path_factory.mktemp("page") / "cluster")
    try:
        yield Cluster(shell, start_cluster(shell))
    finally:
        shell.run("down", "--purge")


def start_cluster(shell: Shell) -> str:
    done = shell.run("up", "--detach")
    assert done.returncode == ExitCode.DONE, done.stdout + done.stderr
    found = re.search(r"^  page +(http://127\.0\.0\.1:\S+)$", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    return found[1]


@pytest.fixture(scope="module")
def shell(cluster: Cluster) -> Shell:
    return cluster.shell


@contextmanager
def running_page(shell: Shell, *options: str) -> Iterator[str]:
    """The one-time URL of a running `steward page`."""
    process = shell.start("page", "--local", "--no-open", *options)
    try:
        found = re.search(r"http://127\.0\.0\.1:\S+", read_until(process, "The page is at"))
        assert found is not None
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture(scope="module")
def tab(cluster: Cluster, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.goto(cluster.url)
    yield tab
    context.close()


def show(tab: Page, path: str) -> None:
    tab.goto(re.sub(r"^(https?://[^/]+).*", rf"\1{path}", tab.url))


def test_the_sample_is_ready_and_every_object_is_a_link(tab: Page) -> None:
    expect(tab.locator("main")).to_contain_text("TenantRegistry demo/customers", timeout=CHANGE_MILLISECONDS)
    tab.get_by_role("link", name="TenantRegistry demo/customers").click()
    expect(tab.locator("h1")).to_have_text("demo/customers")
    expect(tab.locator("table.matrix tbody tr")).to_have_count(12)
    tab.locator("table.matrix tbody a").first.click()
    expect(tab.locator(".kind")).to_have_text("Tenant")
    expect(tab.locator(".node").first).to_be_visible()


def test_the_cluster_shows_its_servers_volumes_and_endpoint(tab: Page) -> None:
    show(tab, "/now")
    tab.get_by_role("link", name="MultigresCluster demo/").first.click()
    expect(tab.get_by_role("img", name="primary").first).to_be_visible(timeout=CHANGE_MILLISECONDS)
    expect(tab.locator("section", has_text="Volumes").locator("tbody tr").first).to_be_visible()
    expect(tab.locator("section", has_text="Connect")).to_contain_text(":5432")
    certificate = tab.get_by_role("table", name="Certificates").locator("tbody tr")
    expect(certificate).to_contain_text("the backup service has valid certificates")
    expect(certificate).to_contain_text("in 364 d")


def test_the_lab_compares_a_template_of_the_cluster_with_live_objects(tab: Page) -> None:
    show(tab, "/lab")
    tab.get_by_label("Start from").select_option("demo/web")
    rows = tab.get_by_label("Rows, as CSV")
    rows.fill("id,url,active,plan\nacme,https://acme.example.com,1,gold\n")
    deployment = tab.locator("details", has_text="Deployment acme-web")
    expect(deployment.locator("summary")).to_contain_text("same")
    rows.fill("id,url,active,plan\nacme,https://other.example.com,1,gold\n")
    expect(deployment.locator("summary")).to_contain_text("changed")
    expect(deployment.locator(".diff .del")).to_contain_text(["other.example.com"])


def test_the_views_of_the_sample_fit_a_phone_and_are_accessible(tab: Page) -> None:
    tab.set_viewport_size({"width": 360, "height": 740})
    for path in ("/now", "/cluster/demo/orders", "/registry/demo/customers", "/tenant/demo/acme-web", "/lab"):
        show(tab, path)
        expect(tab.locator("h1")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360, path
        assert serious_problems(tab) == [], path
    tab.set_viewport_size({"width": 1280, "height": 900})


def confirm(tab: Page, button: str) -> None:
    """Opens the dialog of an action and confirms what its dry run shows."""
    tab.get_by_role("button", name=button).first.click(timeout=CHANGE_MILLISECONDS)
    dialog = tab.get_by_role("dialog")
    expect(dialog.locator(".diff div").first).to_be_visible()
    dialog.locator("button.main").click()
    expect(dialog.get_by_role("status")).to_contain_text("requested")
    dialog.get_by_role("button", name="Close").click()


def test_a_backup_is_made_by_its_button(tab: Page) -> None:
    show(tab, "/cluster/demo/orders")
    confirm(tab, "Back up now")
    requested = tab.get_by_role("table", name="Requested backups")
    expect(requested.locator("tbody tr").first).to_contain_text("Completed", timeout=CHANGE_MILLISECONDS)


def test_a_cluster_is_paused_and_resumed_by_its_button(tab: Page) -> None:
    show(tab, "/cluster/demo/orders")
    confirm(tab, "Pause MultigresCluster orders")
    paused = tab.locator(".heading .badge", has_text="Paused")
    expect(paused).to_have_count(1, timeout=CHANGE_MILLISECONDS)
    expect(tab.get_by_role("button", name="Restart pool main")).to_have_count(0)
    confirm(tab, "Resume MultigresCluster orders")
    expect(paused).to_have_count(0, timeout=CHANGE_MILLISECONDS)


def test_the_primary_is_switched_by_its_button(tab: Page) -> None:
    show(tab, "/cluster/demo/orders")
    primary = tab.locator(".server", has=tab.get_by_role("img", name="primary"))
    before = primary.get_attribute("title") or ""
    confirm(tab, "Switch the primary")
    expect(primary).not_to_have_attribute("title", before, timeout=CHANGE_MILLISECONDS)


def test_a_pool_is_restarted_by_its_button(tab: Page) -> None:
    show(tab, "/cluster/demo/orders")
    servers = tab.locator(".server.ready")
    expect(servers).to_have_count(3, timeout=CHANGE_MILLISECONDS)
    confirm(tab, "Restart pool main")
    expect(servers).not_to_have_count(3, timeout=CHANGE_MILLISECONDS)
    expect(servers).to_have_count(3, timeout=CHANGE_MILLISECONDS)
    rolled = tab.locator(".timeline li", has_text="every pod runs the newest revision")
    expect(rolled.first).to_be_attached(timeout=CHANGE_MILLISECONDS)


def test_a_template_update_waits_is_applied_and_rolled_back(tab: Page, shell: Shell) -> None:
    show(tab, "/cluster/demo/orders")
    change = '{"spec":{"multiorch":{"replicas":2}}}'
    patch = ("kubectl", "patch", "shardtemplate", "standard", "-n", "demo", "--type", "merge", "-p", change)
    assert shell.run(*patch).returncode == 0
    waiting = tab.locator("section", has_text="Waiting update")
    expect(waiting.locator(".diff")).to_contain_text("multiorch", timeout=CHANGE_MILLISECONDS)
    confirm(tab, "Apply the update")
    expect(waiting).to_have_count(0, timeout=CHANGE_MILLISECONDS)
    confirm(tab, "Roll back to ShardTemplate/standard generation 1")
    active = tab.get_by_role("table", name="Template revisions").locator("tr", has_text="active")
    expect(active.locator("td").nth(1)).to_have_text("1", timeout=CHANGE_MILLISECONDS)


def test_a_table_is_read_by_the_button_of_its_registry(tab: Page, shell: Shell) -> None:
    show(tab, "/registry/demo/customers")
    confirm(tab, "Sync now")
    answered = ("kubectl", "wait", "tenantregistry/customers", "-n", "demo", "--timeout=60s")
    found = shell.run(*answered, "--for=jsonpath={.status.lastSyncRequest}")
    assert found.returncode == 0, found.stderr


def test_a_rendered_object_is_compared_with_the_live_one(tab: Page) -> None:
    show(tab, "/registry/demo/customers")
    tab.locator("table.matrix tbody a").first.click()
    tab.get_by_text("Rendered and live").first.click()
    expect(tab.locator("details[open]")).to_contain_text("The live object has every rendered field.")


def test_a_new_row_appears_while_one_looks(tab: Page, shell: Shell) -> None:
    show(tab, "/registry/demo/customers")
    expect(tab.locator("table.matrix tbody tr")).to_have_count(12)
    assert shell.run("sample", "add", "nimbus", "--plan", "gold").returncode == 0
    expect(tab.locator("table.matrix tbody tr", has_text="nimbus")).to_be_visible(timeout=CHANGE_MILLISECONDS)


def test_a_row_that_attacks_its_reader_is_shown_as_text(tab: Page, shell: Shell) -> None:
    attack = '<img src=x onerror="window.attacked=1">'
    table = Layout(shell.directory).sample / TABLE_FILE
    show(tab, "/registry/demo/customers")
    with closing(sqlite3.connect(table)) as rows, rows:
        rows.execute(
            "INSERT INTO customers (id, url, active, plan) VALUES (?, ?, 1, ?)",
            (attack, f"https://{attack}", attack),
        )
    expect(tab.locator("main")).to_contain_text("onerror", timeout=CHANGE_MILLISECONDS)
    show(tab, "/now")
    expect(tab.locator("main")).to_contain_text("onerror")
    assert tab.evaluate("window.attacked") is None
    assert tab.locator("main img:not([role])").count() == 0
    with closing(sqlite3.connect(table)) as rows, rows:
        rows.execute("DELETE FROM customers WHERE id = ?", (attack,))
    expect(tab.locator("main")).not_to_contain_text("onerror", timeout=CHANGE_MILLISECONDS)


def test_an_empty_table_is_shown_as_a_held_deletion_until_the_rows_return(tab: Page, shell: Shell) -> None:
    show(tab, "/now")
    assert shell.run("sample", "empty").returncode == 0
    held = tab.locator("section", has_text="Held deletions")
    expect(held).to_contain_text("the table has no rows", timeout=CHANGE_MILLISECONDS)
    assert shell.run("sample", "refill").returncode == 0
    expect(held).to_have_count(0, timeout=CHANGE_MILLISECONDS)


def test_a_held_deletion_is_approved_by_typing_the_name(tab: Page, shell: Shell) -> None:
    show(tab, "/registry/demo/customers")
    table = Layout(shell.directory).sample / TABLE_FILE
    with closing(sqlite3.connect(table)) as rows, rows:
        rows.execute(
            "UPDATE customers SET active = 0 WHERE id IN ('acme', 'bluebird', 'cobalt', 'dynamo', 'evergreen')"
        )
    tab.get_by_role("button", name="Approve the deletion").click(timeout=CHANGE_MILLISECONDS)
    dialog = tab.get_by_role("dialog")
    dialog.get_by_label("Type customers to confirm").fill("customers")
    dialog.get_by_role("button", name="Approve the deletion").click()
    expect(dialog.get_by_role("status")).to_contain_text("requested")
    dialog.get_by_role("button", name="Close").click()
    expect(tab.locator("table.matrix tbody tr", has_text="cobalt")).to_have_count(
        0, timeout=CHANGE_MILLISECONDS
    )


def test_up_prints_a_new_address_when_the_last_was_used(cluster: Cluster, tab: Page) -> None:
    assert start_cluster(cluster.shell) != cluster.url


def test_a_reader_of_one_namespace_sees_no_other(browser: Browser, shell: Shell) -> None:
    context = browser.new_context()
    tab = context.new_page()
    with running_page(shell, "-n", "default") as url:
        tab.goto(url)
        expect(tab.locator("main")).to_contain_text(
            "There is no MultigresCluster and no TenantRegistry here."
        )
        expect(tab.locator("footer")).to_contain_text("default")
        context.close()
