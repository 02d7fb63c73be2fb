"""The page of what must hold names tests that exist."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "design" / "tenants-acceptance.md"
NAMED = sorted(set(re.findall(r"`([a-z_/]+\.py)::(test_[a-z0-9_]+)`", PAGE.read_text())))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert re.search(rf"^(async )?def {name}\(", (TESTS / file).read_text(), re.MULTILINE)


def test_the_page_names_tests_in_every_line() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    without = [line for line in lines if "::test_" not in line]
    headings = [line for line in without if "Held by" in line]
    assert len(lines) > 40
    assert len(headings) == 2
    assert [line.split(".")[0] for line in without if line not in headings] == ["| 18"]
