"""The page of what must hold names tests that exist."""

import re

import pytest

from tests.support.acceptance import Page, is_there

PAGE = Page("tenants-acceptance.md")


@pytest.mark.parametrize(("file", "name"), PAGE.tests)
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert is_there(file, name)


def test_the_page_names_tests_in_every_line() -> None:
    assert len(PAGE.rows) > 40
    assert [line.split(".")[0] for line in PAGE.unheld] == ["| 18"]


def test_every_fault_and_every_question_of_the_operator_before_us_has_its_line() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+)\. ", PAGE.text, re.MULTILINE)]
    assert numbers == [*range(1, 21), *range(1, 14)]
