"""`steward completion`: prints the completion script of a shell."""

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

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(steward, {}, "steward", "_STEWARD_COMPLETE").source())
