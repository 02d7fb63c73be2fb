"""`python -m tests.page.screenshots`: takes the pictures of docs/page.md, of the page with sample objects."""

from __future__ import annotations

import sys
from typing import Any, Final

from playwright.sync_api import Browser, expect, sync_playwright

from steward.kube.objects.kinds import Manifest
from steward.page.routes.context import PageOptions
from tests.page.support import sample_objects as sample
from tests.page.support.browser import FLAGS, find_chromium
from tests.page.support.memory_api import MemoryApi
from tests.page.support.page_thread import PageThread, page_thread
from tests.support.paths import ROOT

DIRECTORY: Final = ROOT / "docs" / "pictures"
PICTURES: Final[dict[str, dict[str, Any]]] = {
    "page-now.png": {"path": "/now", "height": 820},
    "page-cluster.png": {"path": "/cluster/shop/db", "height": 900},
    "page-registry.png": {"path": "/registry/shop/customers", "height": 1000},
    "page-tenant.png": {"path": "/tenant/shop/acme-web", "height": 700},
    "page-dark.png": {"path": "/cluster/shop/db", "height": 900, "color_scheme": "dark"},
    "page-action.png": {"path": "/cluster/shop/db", "height": 560, "action": "Restart pool main"},
}


def objects() -> list[Manifest]:
    """The sample with a standby that does not stream, a waiting update and a Tenant that is not ready."""
    servers = [
        sample.server("db-postgres-default-0-8-main-zone-a-0", "zone-a", role="Primary"),
        sample.server("db-postgres-default-0-8-main-zone-b-0", "zone-b", "NotStreaming"),
        sample.server("db-postgres-default-0-8-main-zone-c-0", "zone-c"),
    ]
    changed = [
        *sample.waiting_update("Degraded"),
        sample.shard("0-8", servers, message="one standby does not stream"),
        sample.deployment("acme-web", ready=1),
        waiting_tenant(),
        template_of_waiting_tenant(),
    ]
    return [*sample.sample(), *changed]


def waiting_tenant() -> Manifest:
    waiting = sample.tenant("acme")
    message = "Deployment acme-web-app: 1 of 2 replicas are available"
    waiting["status"] |= {
        "readyResources": 1,
        "conditions": [sample.condition("Ready", "False", message, "NotAllResourcesReady")],
    }
    return waiting


def template_of_waiting_tenant() -> Manifest:
    made = sample.template("web")
    made["status"]["readyTenants"] = 11
    return made


def main() -> str | None:
    program = find_chromium()
    if program is None:
        return "Chromium is missing: run `python -m tests.install_browser`."
    DIRECTORY.mkdir(exist_ok=True)
    api = MemoryApi()
    api.apply(*objects())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=list(FLAGS))
        for name, picture in PICTURES.items():
            with page_thread(
                api, PageOptions(allows_actions="action" in picture, cluster="production")
            ) as served:
                take(browser, served, name, **picture)
        browser.close()
    return None


def take(
    browser: Browser,
    served: PageThread,
    name: str,
    *,
    path: str,
    height: int,
    action: str = "",
    **options: Any,
) -> None:
    context = browser.new_context(viewport={"width": 1160, "height": height}, **options)
    page = context.new_page()
    page.goto(served.url)
    expect(page.locator("#live")).to_have_text("Live")
    page.goto(served.origin + path)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("#live")).to_have_text("Live")
    if action:
        page.get_by_role("button", name=action).last.click()
        expect(page.get_by_role("dialog").locator(".diff")).to_be_visible()
    page.screenshot(path=DIRECTORY / name)
    context.close()


if __name__ == "__main__":
    sys.exit(main())
