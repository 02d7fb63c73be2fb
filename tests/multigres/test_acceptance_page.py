"""The page of what must hold names tests that exist."""

import pytest

from tests.support.acceptance import Page, is_there

PAGE = Page("multigres-acceptance.md")


@pytest.mark.parametrize(("file", "name"), PAGE.tests)
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert is_there(file, name)


def test_the_page_names_tests_in_every_line() -> None:
    assert len(PAGE.rows) > 70
    assert PAGE.unheld == []
