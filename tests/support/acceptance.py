"""Acceptance pages: tables of requirements, each with the tests that cover it."""

import re
from typing import NamedTuple

from tests.support.paths import TESTS

_NAMED = re.compile(r"`([a-z_/]+\.py)::(test_[a-z0-9_]+)`")


class AcceptancePage(NamedTuple):
    name: str

    @property
    def text(self) -> str:
        return (TESTS.parent / "docs" / "design" / self.name).read_text()

    @property
    def tests(self) -> list[tuple[str, str]]:
        return sorted(set(_NAMED.findall(self.text)))

    @property
    def rows(self) -> list[str]:
        """All table rows except headings."""
        lines = (line for line in self.text.splitlines() if line.startswith("| "))
        return [line for line in lines if not line.endswith("| Test |")]

    @property
    def rows_without_test(self) -> list[str]:
        return [line for line in self.rows if not _NAMED.search(line)]


def has_test(file: str, name: str) -> bool:
    return bool(re.search(rf"^(async )?def {name}\(", (TESTS / file).read_text(), re.MULTILINE))
