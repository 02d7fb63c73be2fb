"""The command line as a document: what `--help` says of every verb, word for word."""

from copy import copy

import click

from steward.cli.main import steward

WIDTH = 100


def document() -> str:
    settings = {**steward.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(steward, info_name="steward", **settings)
    return "# The command line\n\n" + _told(steward, context) + "".join(_below(steward, context))


def _below(group: click.Group, context: click.Context) -> list[str]:
    sections: list[str] = []
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(
            command, parent=context, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
        )
        sections.append(f"\n## {inner.command_path}\n\n{_told(command, inner)}")
        if isinstance(command, click.Group):
            sections.extend(_below(command, inner))
    return sections


def _told(command: click.Command, context: click.Context) -> str:
    # click remembers the option for help of the first context that it saw: whoever called the command before us.
    fresh = copy(command)
    fresh._help_option = None
    return f"```text\n{fresh.get_help(context).rstrip()}\n```\n"
