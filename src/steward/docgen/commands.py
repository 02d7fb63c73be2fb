"""Generates the command line reference from the `--help` output of every verb."""

from copy import copy

import click

from steward.cli.main import steward

WIDTH = 100


def commands_page() -> str:
    settings = {**steward.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(steward, info_name="steward", **settings)
    return (
        "# Command line\n\n" + _help_block(steward, context) + "".join(_subcommand_sections(steward, context))
    )


def _subcommand_sections(group: click.Group, context: click.Context) -> list[str]:
    sections: list[str] = []
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(
            command, parent=context, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
        )
        sections.append(f"\n## {inner.command_path}\n\n{_help_block(command, inner)}")
        if isinstance(command, click.Group):
            sections.extend(_subcommand_sections(command, inner))
    return sections


def _help_block(command: click.Command, context: click.Context) -> str:
    # click caches the help option of the first context; a copy without it gives the same text for every caller.
    fresh = copy(command)
    fresh._help_option = None
    return f"```text\n{fresh.get_help(context).rstrip()}\n```\n"
