from __future__ import annotations

import importlib
import subprocess
import sys

import click
import pytest

from steward.cli import main as cli
from steward.cli.main import VERBS, ExitCode, one_sentence


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_help_names_every_verb_and_imports_none() -> None:
    done = run(
        "import sys\n"
        "from steward.cli.main import steward\n"
        "steward.main(['--help'], standalone_mode=False)\n"
        "print(sorted(m for m in sys.modules if m.startswith(('steward.', 'rich', 'aiohttp'))), file=sys.stderr)\n"
    )
    assert done.returncode == 0
    for name, verb in VERBS.items():
        assert name in done.stdout
        assert verb.help.split(".")[0].split()[0] in done.stdout
    assert done.stderr.strip() == "['steward.cli', 'steward.cli.main']"


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_a_command(name: str) -> None:
    verb = VERBS[name]
    assert isinstance(getattr(importlib.import_module(verb.module), verb.attribute), click.Command)


def test_an_unknown_verb_is_wrong_usage() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steward.cli.main", "fly"], capture_output=True, text=True, check=False
    )
    assert done.returncode == ExitCode.USAGE
    assert "No such command 'fly'" in done.stderr


def test_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steward.cli.main", "--version"], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("steward ")


class Curable(Exception):
    pass


@click.command()
def fails() -> None:
    with one_sentence(Curable):
        raise Curable("The tap is closed: open it.")


@click.command()
def breaks() -> None:
    with one_sentence(Curable):
        raise ZeroDivisionError


@click.command()
def interrupted() -> None:
    raise KeyboardInterrupt


@click.command()
@click.pass_context
def answers(context: click.Context) -> None:
    context.exit(7)


@pytest.mark.parametrize(
    ("command", "code"), [(fails, ExitCode.FAILED), (interrupted, ExitCode.INTERRUPTED), (answers, 7)]
)
def test_exit_codes(monkeypatch: pytest.MonkeyPatch, command: click.Command, code: int) -> None:
    monkeypatch.setattr(cli, "steward", command)
    monkeypatch.setattr(sys, "argv", ["steward"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code


def test_an_expected_error_is_one_sentence_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "steward", fails)
    monkeypatch.setattr(sys, "argv", ["steward"])
    with pytest.raises(SystemExit):
        cli.main()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "Error: The tap is closed: open it.\n"


def test_a_fault_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "steward", breaks)
    monkeypatch.setattr(sys, "argv", ["steward"])
    with pytest.raises(ZeroDivisionError):
        cli.main()
