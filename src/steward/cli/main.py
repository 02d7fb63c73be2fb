"""The command line: `steward VERB`.

Verbs are imported lazily: `steward --help` imports none of them, and `steward template` imports little more than
click. Errors that a user can fix are raised as `click.ClickException`: one sentence on standard error and an exit code
of `ExitCode`. A traceback means a bug in Steward.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, NoReturn

import click


class ExitCode(IntEnum):
    """Exit codes of `steward`. `steward kubectl` returns the exit code of kubectl."""

    DONE = 0
    FAILED = 1  # an expected error, reported in one sentence
    USAGE = 2  # invalid command line
    INTERRUPTED = 130  # Ctrl-C


@contextmanager
def expected_errors(*expected: type[Exception]) -> Iterator[None]:
    """Reports errors of these types as one sentence instead of a traceback."""
    try:
        yield
    except expected as error:
        raise click.ClickException(str(error)) from error


class Verb(NamedTuple):
    module: str
    attribute: str
    help: str


VERBS: dict[str, Verb] = {
    "up": Verb(
        "steward.cli.commands.local.up",
        "command",
        "Start a real Kubernetes on this machine, with both operators and a sample.",
    ),
    "down": Verb("steward.cli.commands.local.down", "command", "Stop what `steward up` started."),
    "sample": Verb(
        "steward.cli.commands.local.sample", "command", "Change the customers of the sample of `steward up`."
    ),
    "kubectl": Verb(
        "steward.cli.commands.local.kubectl", "command", "Run kubectl against the local control plane."
    ),
    "run": Verb("steward.cli.commands.run", "command", "Run the operators against a cluster."),
    "status": Verb(
        "steward.cli.commands.status",
        "command",
        "Show the health of clusters and registries, problems first.",
    ),
    "tree": Verb(
        "steward.cli.commands.tree",
        "command",
        "Draw clusters and registries with the objects created for them.",
    ),
    "why": Verb("steward.cli.commands.why", "command", "Say in one sentence what an object is waiting for."),
    # Above the other verbs: it imports them.
    "page": Verb(
        "steward.page.command", "command", "Show both operators live in a browser, with your own rights."
    ),
    "events": Verb(
        "steward.cli.commands.running.events",
        "command",
        "Show the events of an object and of everything below it.",
    ),
    "logs": Verb(
        "steward.cli.commands.running.logs", "command", "Show the logs of a cluster, shard or Tenant, merged."
    ),
    "trace": Verb(
        "steward.cli.commands.running.trace", "command", "Say which row, template or cluster made an object."
    ),
    "psql": Verb("steward.cli.commands.running.psql", "command", "Connect to a cluster with psql."),
    "hold": Verb("steward.cli.commands.hold", "command", "List deletions held for approval, or approve one."),
    "rows": Verb("steward.cli.commands.rows", "command", "Show a registry's table as the operator reads it."),
    "preview": Verb(
        "steward.cli.commands.preview", "command", "Show what the next sync, or a changed file, would do."
    ),
    "doctor": Verb(
        "steward.cli.commands.installation.doctor",
        "command",
        "Check an installation; each problem is listed with its fix.",
    ),
    "updates": Verb(
        "steward.cli.commands.updates",
        "command",
        "Show, apply or roll back template changes of clusters.",
    ),
    "volumes": Verb(
        "steward.cli.commands.running.volumes",
        "command",
        "List volume claims of clusters, and those kept without one.",
    ),
    "switchover": Verb(
        "steward.cli.commands.running.switchover", "command", "Make another server the primary of a shard."
    ),
    "restart": Verb(
        "steward.cli.commands.running.restart",
        "command",
        "Restart the servers or another component of a cluster.",
    ),
    "sync": Verb("steward.cli.commands.running.sync", "command", "Read the table of a registry now."),
    "pause": Verb(
        "steward.cli.commands.running.pause",
        "pause",
        "Keep the operator from changing a cluster, registry, template or Tenant.",
    ),
    "resume": Verb("steward.cli.commands.running.pause", "resume", "End a pause."),
    "hibernate": Verb(
        "steward.cli.commands.running.hibernate", "hibernate", "Stop a cluster and keep its volumes."
    ),
    "wake": Verb("steward.cli.commands.running.hibernate", "wake", "Start a hibernated cluster again."),
    "backup": Verb(
        "steward.cli.commands.backup",
        "command",
        "Make a backup of a cluster now, and wait until it is complete.",
    ),
    "backups": Verb("steward.cli.commands.backups", "command", "List the backups of clusters."),
    "restore": Verb(
        "steward.cli.commands.restore",
        "command",
        "Create a cluster again from the backups of its repository.",
    ),
    "report": Verb(
        "steward.cli.commands.installation.report",
        "command",
        "Write an archive for a bug report, without secrets.",
    ),
    "install": Verb(
        "steward.cli.commands.installation.install",
        "command",
        "Print or apply the manifests of an installation.",
    ),
    "uninstall": Verb(
        "steward.cli.commands.installation.uninstall",
        "command",
        "Remove an installation without leaving objects stuck in deletion.",
    ),
    "crds": Verb(
        "steward.cli.commands.installation.crds", "command", "Print the custom resource definitions."
    ),
    "render": Verb(
        "steward.cli.commands.render",
        "command",
        "Render the objects of a cluster, or of a template and rows, offline.",
    ),
    "lint": Verb("steward.cli.commands.lint", "command", "Check manifests for errors, without a cluster."),
    "convert": Verb(
        "steward.cli.commands.convert", "command", "Translate manifests of the Go operators, offline."
    ),
    "explain": Verb(
        "steward.cli.commands.explain", "command", "Show where each value of a MultigresCluster comes from."
    ),
    "completion": Verb(
        "steward.cli.commands.completion", "command", "Print the completion script of a shell."
    ),
    "template": Verb(
        "steward.cli.commands.template",
        "command",
        "Render a Go template with values, as the tenants operator does.",
    ),
}


def _similar_verbs(word: str) -> list[str]:
    # Imported here: only a wrong verb needs it.
    from difflib import get_close_matches

    return get_close_matches(word, VERBS, 2, cutoff=0.7)


class LazyGroup(click.Group):
    """A group that lists its verbs and their help lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        command = getattr(importlib.import_module(verb.module), verb.attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            similar = _similar_verbs(args[0])
            if similar:
                raise click.UsageError(f"{error.message} Did you mean {' or '.join(similar)}?", ctx) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.help) for name, verb in VERBS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="steward", message="steward %(version)s")
def steward() -> None:
    """Two Kubernetes operators on one small engine, and a real Kubernetes to try them on.

    Exit codes: 0 done, 1 an error reported in one sentence, 2 wrong usage, 130 interrupted.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        click.get_current_context().color = False


def _program_name() -> str:
    """kubectl runs a program `kubectl-steward` on PATH as `kubectl steward`."""
    name = Path(sys.argv[0]).name
    return "kubectl steward" if name == "kubectl-steward" else "steward"


def main() -> NoReturn:
    """Console entry point: turns expected errors into one sentence and an exit code."""
    try:
        code = steward.main(prog_name=_program_name(), standalone_mode=False)
        if sys.stdout is not None:  # None after `>&-`
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _show_error(error)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _discard_output()  # the reader has closed the pipe
        sys.exit(ExitCode.FAILED)
    except OSError as error:  # for example a full disk
        _discard_output()
        click.ClickException(str(error)).show()
        sys.exit(ExitCode.FAILED)
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def _show_error(error: click.ClickException) -> None:
    """As click does, but wrapped between words on a terminal."""
    text = f"Error: {error.format_message()}"
    if sys.stderr is None or not sys.stderr.isatty():
        click.echo(text, err=True)
        return
    # Imported here: only an error on a terminal needs it.
    from shutil import get_terminal_size

    from steward.cli.word_wrap import wrap_text

    width = get_terminal_size().columns
    for line in (line for part in text.splitlines() for line in wrap_text(part, width)):
        click.echo(line, err=True)


def _discard_output() -> None:
    """Sends buffered output to /dev/null, so that the flush at exit does not fail."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
