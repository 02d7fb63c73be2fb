"""The acceptance page names tests that exist."""

import pytest

from tests.support.acceptance import AcceptancePage, has_test

PAGE = AcceptancePage("multigres-acceptance.md")


@pytest.mark.parametrize(("file", "name"), PAGE.tests)
def test_every_test_that_the_page_names_exists(file: str, name: str) -> None:
    assert has_test(file, name)


def test_the_page_names_tests_in_every_line() -> None:
    assert len(PAGE.rows) > 70
    assert PAGE.rows_without_test == []
