"""`steward logs`: shows the logs of a cluster, a shard or a Tenant, merged, each line with its container."""

from __future__ import annotations

import re
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.find import NotFoundInTrees, parse_name
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.inspect.selection import find_elsewhere, missing_message
from steward.cli.object_names import complete_names
from steward.cli.operations.log_streams import LogFollower, LogLine, LogOptions, LogProblem, read_logs
from steward.cli.operations.log_targets import ROLES, LogFilter, LogTarget, read_log_targets
from steward.kube.client.client import Client
from steward.kube.objects.durations import parse_duration

MOST_CONTAINERS = 50
_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_EPILOG = """\b
Examples:
  steward logs db -n shop
  steward logs db -n shop --role primary -f
  steward logs shard/db-postgres-default-0-inf -n shop --container multipooler --since 10m
  steward logs tenant/acme-web -n saas --previous
\b
Exit codes: 0 done, 1 there is no such object or no container, or no log can be read, 130 interrupted.
\b
Lines are ordered by the clocks of their nodes. Control characters of a log are not printed.
Needs the right to list the custom resources, Deployments, ReplicaSets, StatefulSets, PersistentVolumeClaims and Pods,
and to get pods/log, in the namespace, and to list Pods where a Tenant has some.
"""


class Duration(click.ParamType[int]):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return max(1, round(parse_duration(str(value))))
        except ValueError as error:
            self.fail(f"{error}; write 90s, 10m or 2h", param, ctx)


@click.command("logs", epilog=_EPILOG)
@click.argument("what", metavar="[KIND/]NAME", shell_complete=complete_names)
@click.option(
    "-f", "--follow", is_flag=True, help="Go on with new lines, also of new pods, until interrupted."
)
@click.option("--role", type=click.Choice(ROLES), default=None, help="Only pods with this role in a cluster.")
@click.option("-c", "--container", default="", help="Only containers of this name.")
@click.option(
    "--tail",
    type=click.IntRange(min=-1),
    default=100,
    show_default=True,
    help="Lines of each container; -1: all.",
)
@click.option("--since", type=Duration(), default=None, help="Only lines that are newer, such as 10m.")
@click.option("--previous", is_flag=True, help="Of containers before their last restart.")
@click.option("--timestamps", is_flag=True, help="Print the time of each line.")
@namespace_options
def command(
    *,
    what: str,
    follow: bool,
    role: str | None,
    container: str,
    tail: int,
    since: int | None,
    previous: bool,
    timestamps: bool,
    **options: Any,
) -> None:
    """Show the logs of the containers of a cluster, shard, Tenant or workload, merged by time."""
    if follow and previous:
        raise click.UsageError("--previous logs have ended: leave --follow out")
    try:
        parse_name(what)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    source, namespace = selected_namespace(options)
    printer = LinePrinter(has_times=timestamps)
    chosen = LogFilter(role or "", container)
    wanted = LogOptions(None if tail < 0 else tail, since, previous)

    async def show(client: Client) -> None:
        async def targets() -> list[LogTarget]:
            return await _read_targets(client, namespace, what, chosen)

        first = _limited(await targets(), what, namespace)
        if follow:
            await LogFollower(client, targets, printer.print).run(wanted)
        else:
            _print_logs(*await read_logs(client, first, wanted), printer)

    with_client(source, show)


async def _read_targets(client: Client, namespace: str, what: str, chosen: LogFilter) -> list[LogTarget]:
    try:
        return await read_log_targets(client, namespace, what, chosen)
    except NotFoundInTrees as error:
        elsewhere = [] if str(error) else await find_elsewhere(client, what)
        raise click.ClickException(str(error) or missing_message(what, namespace, elsewhere)) from error


def _limited(targets: list[LogTarget], what: str, namespace: str) -> list[LogTarget]:
    if not targets:
        tree = command_line("tree", what, namespace=namespace)
        raise click.ClickException(f"{what} has no such container; `{tree}` shows its pods")
    if len(targets) > MOST_CONTAINERS:
        raise click.ClickException(
            f"{what} has {len(targets)} containers, more than {MOST_CONTAINERS}: choose some by --role, --container or "
            "the name of a shard"
        )
    return targets


def _print_logs(lines: list[LogLine], problems: list[LogProblem], printer: LinePrinter) -> None:
    for line in lines:
        printer.print(line)
    for problem in problems:
        click.echo(f"{problem.target.label}: {problem.message}", err=True)
    if problems and not lines:
        raise click.ClickException("no log could be read")


class LinePrinter:
    """Prints lines with the name of their container, in a colour of its own on a terminal."""

    def __init__(self, *, has_times: bool) -> None:
        self._has_times = has_times
        self._colours: dict[str, str] = {}

    def print(self, line: LogLine) -> None:
        label = line.target.label
        colour = self._colours.setdefault(label, _COLOURS[len(self._colours) % len(_COLOURS)])
        time = f"{line.time} " if self._has_times else ""
        # A log is written by others, and an escape sequence can do more to a terminal than colour it.
        text = _CONTROL.sub("?", click.unstyle(line.text))
        click.echo(f"{click.style(label, fg=colour)} {time}{text}")
