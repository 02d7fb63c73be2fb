"""One Chromium for all tests, and a fresh profile for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.page.support import sample_objects as sample
from tests.page.support.browser import FLAGS, find_chromium
from tests.page.support.memory_api import MemoryApi
from tests.page.support.page_thread import PageThread, page_thread

# The default of five seconds is too short for a browser on a busy machine.
WAIT_MILLISECONDS = 30_000
expect.set_options(timeout=WAIT_MILLISECONDS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.fail("the tests of the page need Chromium: run `make page-test`, which installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def profile(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context
    context.close()


@pytest.fixture
def page(profile: BrowserContext) -> Iterator[Page]:
    """A tab; an error in the code of the page fails the test."""
    tab = profile.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on(
        "console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None
    )
    yield tab
    assert errors == []


@pytest.fixture
def sample_page() -> Iterator[PageThread]:
    api = MemoryApi()
    api.apply(*sample.sample())
    with page_thread(api) as served:
        yield served
