"""`python -m tests.install_browser`: installs Chromium and a font for the tests of the page if they are missing."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.page.support.browser import find_chromium
from tests.support.debian_packages import install_packages

_FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def missing_packages() -> list[str]:
    browser = [] if find_chromium() else ["chromium"]
    return [*browser, *([] if _FONT.exists() or sys.platform != "linux" else ["fonts-dejavu-core"])]


def main() -> str | None:
    """Install missing packages; return an error message, or None."""
    return install_packages(missing_packages())


if __name__ == "__main__":
    sys.exit(main())
