"""Tables, and the common parts of help texts."""

import importlib

import click
import pytest
from click.testing import CliRunner

from steward.cli import output
from steward.cli.main import VERBS, steward
from steward.cli.output import describe_count, echo_wrapped, format_blocks, format_table, print_table

INSPECTION_VERBS = ("status", "tree", "why", "hold", "rows", "preview", "doctor")


def test_columns_are_as_wide_as_their_widest_text() -> None:
    assert format_table(["A", "NAME"], [["long text", "x"], ["", "yy"]]) == [
        "A          NAME",
        "long text  x",
        "           yy",
    ]


@pytest.mark.parametrize(
    ("count", "kind", "text"),
    [
        (1, "Tenant", "1 Tenant"),
        (2, "Tenant", "2 Tenants"),
        (2, "Ingress", "2 Ingresses"),
        (2, "TenantRegistry", "2 TenantRegistries"),
        (2, "Endpoints", "2 Endpoints"),
    ],
)
def test_kinds_are_counted_in_english(count: int, kind: str, text: str) -> None:
    assert describe_count(count, kind) == text


def test_a_row_of_a_wide_table_is_a_block_of_lines() -> None:
    assert format_blocks(["A", "NAME"], [["x", "y"], ["", "z"]]) == [
        "A     x",
        "NAME  y",
        "",
        "A",
        "NAME  z",
    ]


@pytest.fixture
def narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_is_terminal", lambda: True)
    monkeypatch.setattr(output, "_terminal_width", lambda: 20)


@pytest.mark.usefixtures("narrow_terminal")
def test_a_narrow_terminal_gets_blocks_and_wrapped_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["A", "B"], [["short", "text"]])
    print_table(["A", "B"], [["a text that is too long", "b"]])
    echo_wrapped("a sentence that is too long")
    assert capsys.readouterr().out.splitlines() == [
        "A      B",
        "short  text",
        "A  a text that is too long",
        "B  b",
        "a sentence that is",
        "too long",
    ]


def test_a_program_that_reads_the_output_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    echo_wrapped("word " * 50)
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize("verb", INSPECTION_VERBS)
def test_help_has_an_example_the_exit_codes_and_the_rights(verb: str) -> None:
    shown = CliRunner().invoke(steward, [verb, "--help"]).output
    assert f"steward {verb}" in shown.partition("Examples:")[2]
    assert "Exit codes: " in shown
    assert "Needs" in shown


@pytest.mark.parametrize("verb", [verb for verb in INSPECTION_VERBS if verb != "why"])
def test_every_verb_that_prints_objects_has_json_and_yaml_output(verb: str) -> None:
    found = importlib.import_module(VERBS[verb].module).command
    [output] = [each for each in found.params if each.name == "output"]
    assert isinstance(output.type, click.Choice)
    assert set(output.type.choices) >= {"json", "yaml", "wide"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str) -> None:
    done = CliRunner().invoke(steward, ["completion", shell])
    assert done.exit_code == 0
    assert f"_STEWARD_COMPLETE={shell}_complete" in done.output


def test_no_color_wins_over_forced_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = CliRunner().invoke(steward, ["sample", "--help"], color=True)
    assert coloured.exit_code == 0

    @click.command()
    def paints() -> None:
        click.secho("red", fg="red")

    monkeypatch.setitem(steward.commands, "paints", paints)
    monkeypatch.setattr(type(steward), "get_command", lambda self, _, name: self.commands.get(name))
    assert "\x1b[31m" in CliRunner().invoke(steward, ["paints"], color=True).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert CliRunner().invoke(steward, ["paints"], color=True).output == "red\n"


@pytest.mark.parametrize("verb", ["rows", "preview", "doctor", "hold"])
def test_the_local_cluster_cannot_be_combined_with_a_context(verb: str) -> None:
    arguments = [verb, *(["x"] if verb in ("rows", "preview") else []), "--local", "--context", "other"]
    done = CliRunner().invoke(steward, arguments)
    assert done.exit_code == 2
    assert "--local names the cluster" in done.output
