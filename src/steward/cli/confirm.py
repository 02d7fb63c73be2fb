"""Asks for confirmation before a change that cannot be undone."""

from __future__ import annotations

import sys

import click


def require_confirmation(question: str) -> None:
    try:
        is_agreed = click.confirm(question)
    except click.Abort:
        click.echo()  # ends the line of the question
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        raise click.ClickException("confirmation needs a terminal; pass --yes to skip it") from None
    if sys.stdin is None or not sys.stdin.isatty():
        click.echo()  # a terminal shows the end of the typed line
    if not is_agreed:
        raise click.ClickException("not confirmed; nothing was changed")
