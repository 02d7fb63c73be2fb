"""`steward completion`: what makes a shell complete our verbs, options and values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_EPILOG = """\b
Examples:
  steward completion bash > ~/.local/share/bash-completion/completions/steward
  steward completion zsh > ~/.zfunc/_steward
  steward completion fish > ~/.config/fish/completions/steward.fish
\b
Exit codes: 0 done.
"""


@click.command("completion", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from steward.cli.main import steward

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(steward, {}, "steward", "_STEWARD_COMPLETE").source())
