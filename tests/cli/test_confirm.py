"""What comes of the answer to a question."""

import click
import pytest
from click.testing import CliRunner

from steward.cli.confirm import must_agree


@click.command()
def asks() -> None:
    must_agree("Do it?")
    click.echo("done")


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ("y\n", 0, "done"),
        ("n\n", 1, "left as it is"),
        ("\n", 1, "left as it is"),
        ("", 1, "nobody is there to answer: --yes does it without asking"),
    ],
    ids=["yes", "no", "nothing", "nobody"],
)
def test_only_a_yes_is_one(answer: str, code: int, told: str) -> None:
    done = CliRunner().invoke(asks, input=answer)
    assert (done.exit_code, told in done.output) == (code, True)
