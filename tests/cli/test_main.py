from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from steward.cli import main as cli
from steward.cli.connection import run_async
from steward.cli.main import VERBS, ExitCode, expected_errors
from steward.kube.errors import NoSuchKind, Unreachable


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )


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


VERBS_WITH_HELP = [name for name in VERBS if name != "kubectl"]  # kubectl's own help is passed on
CLUSTER_VERBS = ["run", "status", "tree", "why", "hold", "rows", "preview", "doctor", "updates"]
CLUSTER_VERBS += [
    "backup",
    "backups",
    "restore",
    "install",
    "uninstall",
    "explain",
    "switchover",
    "events",
    "volumes",
]
CLUSTER_VERBS += [
    "logs",
    "trace",
    "psql",
    "restart",
    "sync",
    "pause",
    "resume",
    "hibernate",
    "wake",
    "report",
]


def help_of(name: str) -> str:
    verb = VERBS[name]
    command = getattr(importlib.import_module(verb.module), verb.attribute)
    parent = click.Context(
        cli.steward, info_name="steward", max_content_width=120, **cli.steward.context_settings
    )
    return str(command.get_help(click.Context(command, parent=parent, info_name=name)))


@pytest.mark.parametrize("name", VERBS_WITH_HELP)
def test_a_verb_has_an_example_and_its_exit_codes_in_its_help(name: str) -> None:
    text = help_of(name)
    assert re.search(r"^ *Examples?:\n(?: +.*\n)* +.*\bsteward ", text, re.MULTILINE)
    assert "Exit codes: 0 " in text


@pytest.mark.parametrize("name", CLUSTER_VERBS)
def test_a_verb_that_reaches_a_cluster_says_which_rights_it_needs(name: str) -> None:
    assert re.search(r"^ *Needs\b.*\b(rights?|to get)\b", help_of(name), re.MULTILINE)


def test_an_unknown_verb_is_wrong_usage() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steward.cli.main", "fly"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == ExitCode.USAGE
    assert "No such command 'fly'" in done.stderr
    assert "Did you mean" not in done.stderr


def test_a_misspelt_verb_gets_a_suggestion() -> None:
    done = CliRunner().invoke(cli.steward, ["stauts"])
    assert done.exit_code == ExitCode.USAGE
    assert "No such command 'stauts'. Did you mean status?" in done.stderr


def test_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "steward.cli.main", "--version"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.startswith("steward ")


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        (">/dev/full", ExitCode.FAILED, "Error: [Errno 28] No space left on device\n"),
        (">&-", ExitCode.DONE, ""),
    ],
)
def test_a_closed_or_full_output_causes_no_traceback(output: str, code: int, message: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m steward.cli.main --version {output}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (code, message)


class Curable(Exception):
    pass


@click.command()
def fails() -> None:
    with expected_errors(Curable):
        raise Curable("The tap is closed: open it.")


@click.command()
def breaks() -> None:
    with expected_errors(Curable):
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


def test_an_error_is_wrapped_between_words_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    cli._show_error(click.ClickException("a sentence that is too long: `steward tree -A --local` helps"))
    assert capsys.readouterr().err.splitlines() == [
        "Error: a sentence that is too",
        "long:",
        "`steward tree -A --local`",
        "helps",
    ]


def test_an_unexpected_error_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "steward", breaks)
    monkeypatch.setattr(sys, "argv", ["steward"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_a_cluster_that_does_not_answer_is_one_sentence_with_what_to_check() -> None:
    async def work() -> None:
        raise Unreachable("cannot reach 127.0.0.1:9: refused")

    with pytest.raises(click.ClickException, match="Does the cluster run, and is this the right --context"):
        run_async(work())


@pytest.mark.parametrize(
    ("kind", "has_hint"),
    [("MultigresBackup (multigres.com/v1alpha1)", True), ("Widget (example.com/v1)", False)],
)
def test_a_kind_of_ours_that_is_not_served_has_a_cure(kind: str, has_hint: bool) -> None:
    async def work() -> None:
        raise NoSuchKind(f"the server does not serve {kind}")

    with pytest.raises(click.ClickException) as raised:
        run_async(work())
    assert ("`steward install --apply` installs Steward" in raised.value.message) is has_hint
