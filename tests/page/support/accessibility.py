"""Accessibility of a tab, by axe-core."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def serious_problems(page: Page) -> list[tuple[str, list[str]]]:
    """The rules that are broken, each with its first elements."""
    found = Axe().run(page).response["violations"]
    return [
        (each["id"], [node["html"] for node in each["nodes"]][:3])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
