"""The tests that the acceptance page names exist."""

import re

import pytest

from tests.support.acceptance import AcceptancePage, has_test

PAGE = AcceptancePage("tenants-acceptance.md")


@pytest.mark.parametrize(("file", "name"), PAGE.tests)
def test_a_test_that_the_page_names_exists(file: str, name: str) -> None:
    assert has_test(file, name)


def test_the_page_names_tests_in_every_line() -> None:
    assert len(PAGE.rows) > 40
    assert [line.split(".")[0] for line in PAGE.rows_without_test] == ["| 18"]


def test_every_fault_and_every_question_about_the_go_operator_has_its_line() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+)\. ", PAGE.text, re.MULTILINE)]
    assert numbers == [*range(1, 21), *range(1, 14)]
