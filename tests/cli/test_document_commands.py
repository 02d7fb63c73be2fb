"""The tables of document commands: every entry has a command, and no placeholder is left."""

import re

import click
import pytest

from steward.cli.main import steward
from tests.cli.support.document_commands import (
    EXIT_CODES,
    INSTALLATION_TEST,
    NOT_RUN,
    PREPARATIONS,
    RUN_ELSEWHERE,
    SYNOPSIS,
    commands_on_page,
    fill_placeholders,
    inline_commands,
    pages_with_commands,
    runs_on_sample,
)
from tests.install.support import document_shell
from tests.support.paths import ROOT

COMMANDS = {command for page in pages_with_commands() for command in commands_on_page(page)}


def test_every_entry_is_about_a_command_of_a_page() -> None:
    assert [
        start for start in (*RUN_ELSEWHERE, *NOT_RUN) if not any(each.startswith(start) for each in COMMANDS)
    ] == []
    assert [command for command in (*PREPARATIONS, *EXIT_CODES) if command not in COMMANDS] == []


def test_no_placeholder_is_left_in_what_is_run() -> None:
    run = [fill_placeholders(command) for command in COMMANDS if runs_on_sample(command)]
    assert [
        command
        for command in run
        if re.search(r"<[a-z]+>|…|\.\.\.|\b(NAMESPACE|TENANT|REGISTRY|KIND)\b", command)
    ] == []


def test_every_command_about_an_installation_is_on_a_page_that_is_typed() -> None:
    words = (*document_shell.INSTALLS, document_shell.UNINSTALLS, document_shell.HELM)
    typed = {command for word in words for command in document_shell.page_commands(word)}
    starts = tuple(start for start, where in RUN_ELSEWHERE.items() if where == INSTALLATION_TEST)
    assert {command for command in COMMANDS if command.startswith(starts)} <= typed


@pytest.mark.parametrize("reason", sorted({*RUN_ELSEWHERE.values(), *NOT_RUN.values()}))
def test_a_reason_that_names_tests_names_some_that_exist(reason: str) -> None:
    assert [path for path in re.findall(r"tests/[\w/.]+", reason) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("start", [start for start, reason in NOT_RUN.items() if reason == SYNOPSIS])
def test_a_synopsis_names_existing_options(start: str) -> None:
    [synopsis] = [command for command in COMMANDS if command.startswith(start)]
    verb = steward.get_command(click.Context(steward), synopsis.split()[1])
    assert verb is not None
    options = {option for parameter in verb.params for option in parameter.opts}
    assert set(re.findall(r"--[a-z-]+", synopsis)) <= options


def test_every_verb_and_option_named_in_prose_exists() -> None:
    named = [(page, words) for page, words in inline_commands() if re.match(r"(kubectl )?steward ", words)]
    assert [each for each in named if not _exists(each[1])] == []
    assert len(named) > 50


def _exists(words: str) -> bool:
    found: click.Command = steward
    for word in words.removeprefix("kubectl ").split()[1:]:
        if word.startswith("--"):
            options = {option for parameter in found.params for option in parameter.opts}
            if word.partition("=")[0] not in {*options, "--help"}:
                return False
        elif isinstance(found, click.Group) and word != "VERB":
            inner = found.get_command(click.Context(found), word)
            if inner is None:
                return found.invoke_without_command
            found = inner
    return True


def test_every_make_target_named_in_prose_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = {
        word
        for _, words in inline_commands()
        if words.startswith("make ")
        for word in re.findall(r"^make ((?:[a-z0-9-]+ ?)+)", words)[0].split()
    }
    assert [target for target in sorted(targets) if f"\n{target}:" not in makefile] == []
    assert {"up", "down", "test", "check", "bench"} <= targets


def test_a_comment_is_not_part_of_a_command() -> None:
    assert "steward updates -A" in commands_on_page("docs/update-policy.md")
