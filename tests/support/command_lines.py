"""Checks `steward` command lines as documents and tools print them, without running them."""

import re
import shlex

import click

from steward.cli.main import steward


def usage_error(line: str) -> str:
    """Click's error message for a command line; empty if the command line is valid."""
    line = re.split(r" (?:\||>|#|<) ?", line)[0]
    words = shlex.split(re.sub(r"\[(--[^\]]*)\]", r"\1", line))[1:]
    if "VERB" in words or "…" in words or words[0] == "kubectl":
        return ""
    context = click.Context(steward, info_name="steward", **steward.context_settings)
    try:
        name, command, rest = steward.resolve_command(context, words)
        assert command is not None
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            name, command, rest = command.resolve_command(context, rest)
            assert command is not None
        inner = click.Context(command, parent=context, info_name=name, **command.context_settings)
        _, left, _ = command.make_parser(inner).parse_args(list(rest))
        if left and not inner.allow_extra_args:
            return f"too many words: {left}"
    except click.UsageError as error:
        return error.format_message()
    return ""
