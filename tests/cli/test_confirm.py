"""Confirmation prompts: only an explicit yes continues."""

import click
import pytest
from click.testing import CliRunner

from steward.cli.confirm import require_confirmation


@click.command()
def asks() -> None:
    require_confirmation("Do it?")
    click.echo("done")


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ("y\n", 0, "done"),
        ("n\n", 1, "not confirmed; nothing was changed"),
        ("\n", 1, "not confirmed; nothing was changed"),
        ("", 1, "confirmation needs a terminal; pass --yes to skip it"),
    ],
    ids=["yes", "no", "empty", "no terminal"],
)
def test_only_a_yes_continues(answer: str, code: int, message: str) -> None:
    done = CliRunner().invoke(asks, input=answer)
    assert (done.exit_code, message in done.output) == (code, True)
    assert done.stdout.startswith("Do it? [y/N]: ")
    assert done.stdout.partition(": ")[2].lstrip("yn").startswith("\n")
