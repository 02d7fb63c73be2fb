"""The table of the documents' commands says what is so: no entry without a command, no placeholder left."""

import re

import pytest

from tests.cli.pages import BEFORE, CODES, NOT_RUN, ROOT, commands_of, filled_in, pages, reason_not_to_run

COMMANDS = {command for page in pages() for command in commands_of(page)}


def test_every_entry_is_about_a_command_of_a_page() -> None:
    assert [start for start in NOT_RUN if not any(each.startswith(start) for each in COMMANDS)] == []
    assert [command for command in (*BEFORE, *CODES) if command not in COMMANDS] == []


def test_no_placeholder_is_left_in_what_is_run() -> None:
    run = [filled_in(command) for command in COMMANDS if not reason_not_to_run(command)]
    assert [
        command
        for command in run
        if re.search(r"<[a-z]+>|…|\.\.\.|\b(NAMESPACE|TENANT|REGISTRY|KIND)\b", command)
    ] == []


@pytest.mark.parametrize("reason", sorted(set(NOT_RUN.values())))
def test_a_reason_that_names_tests_names_some_that_exist(reason: str) -> None:
    assert [path for path in re.findall(r"tests/[\w/.]+", reason) if not (ROOT / path).exists()] == []


def test_a_comment_is_no_part_of_a_command() -> None:
    assert "steward updates -A" in commands_of("docs/update-policy.md")
