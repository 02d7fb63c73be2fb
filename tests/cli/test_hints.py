"""Suggested commands work when they are pasted."""

import click
import pytest

from steward.cli.connection import cluster_options
from steward.cli.hints import command_line, mark_local_cluster, with_cluster_options


@click.group("steward", invoke_without_command=True)
@cluster_options
def group(**options: str) -> None:
    """A group with cluster options, as `steward hold`."""


@group.command("inner")
@cluster_options
def inner(**options: str) -> None:
    click.echo(command_line("status", "db", namespace="shop"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["inner"], "steward status db -n shop"),
        (["inner", "--local"], "steward status db -n shop --local"),
        (["--local", "inner"], "steward status db -n shop --local"),
        (["inner", "--context", "my one"], "steward status db -n shop --context 'my one'"),
        (
            ["inner", "--kubeconfig", "k", "--context", "c"],
            "steward status db -n shop --kubeconfig k --context c",
        ),
    ],
)
def test_a_suggested_command_has_the_cluster_options_in_use(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    group.main(arguments, prog_name="steward", standalone_mode=False)
    assert capsys.readouterr().out == f"{expected}\n"


@group.command("advise")
@click.option("--marked", is_flag=True)
@cluster_options
def advise(marked: bool, **options: str) -> None:
    if marked:
        mark_local_cluster()
    click.echo(with_cluster_options("run `kubectl get pods` or kubectl steward status"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "kubectl get pods"),
        (["--local"], "steward kubectl get pods"),
        (["--marked"], "steward kubectl get pods"),
        (["--context", "my one"], "kubectl --context 'my one' get pods"),
    ],
)
def test_a_command_of_kubectl_is_typed_for_the_cluster_in_use(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    group.main(["advise", *arguments], prog_name="steward", standalone_mode=False)
    assert capsys.readouterr().out == f"run `{expected}` or kubectl steward status\n"


def test_a_text_is_rewritten_once() -> None:
    assert with_cluster_options("steward kubectl get pods") == "steward kubectl get pods"


def test_without_a_running_command_the_line_is_plain() -> None:
    assert command_line("doctor") == "steward doctor"
