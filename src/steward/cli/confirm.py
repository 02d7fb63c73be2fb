"""Asks before something that cannot be taken back: a no is an answer, and that nobody answers is told."""

from __future__ import annotations

import sys

import click


def must_agree(question: str) -> None:
    try:
        is_agreed = click.confirm(question)
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            click.echo(err=True)
            raise
        raise click.ClickException("nobody is there to answer: --yes does it without asking") from None
    if not is_agreed:
        raise click.ClickException("left as it is")
