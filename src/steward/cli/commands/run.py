"""`steward run`: the operators against a cluster, until a signal comes.

The flags are made from the one table of settings in `steward.runtime.manager.settings`; nothing is declared here.
"""

from __future__ import annotations

import importlib
import os
from typing import NamedTuple

import click

from steward.runtime.manager.settings import (
    Setting,
    Settings,
    SettingsError,
    all_settings,
    settings_from,
    table,
)


class Registered(NamedTuple):
    """Where an operator's `set_up(manager, settings)` is, and how it is called in the cluster."""

    name: str
    module: str


OPERATORS: dict[str, Registered] = {
    "multigres": Registered("multigres-operator", "steward.multigres.operator"),
    "tenants": Registered("tenant-operator", "steward.tenants.operator"),
}
"""What `steward run` can start, by the name that a user types. An operator enters here with its set_up function."""


_EPILOG = """\b
Examples:
  steward run                                        both, against the cluster of the kubeconfig
  steward run tenants --shard 0/4 --log-format json
  steward run multigres --namespaces shop --connect-to @connect-to.txt
\b
Exit codes: 0 after a stop that was asked for, 1 for an error told in one sentence (a lost lease is one), 2 wrong
usage.
\b
Needs the rights that `steward install` gives the operators' service accounts.
"""


def _option(setting: Setting) -> click.Option:
    is_switch = isinstance(setting.default, bool)
    return click.Option(
        [setting.flag, setting.name],
        help=f"{setting.reads.help} [{setting.variable}]",
        metavar="[true|false]" if is_switch else "VALUE",
        is_flag=False,
        flag_value="true" if is_switch else None,
    )


def _print_table(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(table(), nl=False)
        ctx.exit()


def _run(operator: str | None, **flags: str | None) -> None:
    settings = _settings({name: text for name, text in flags.items() if text is not None})
    chosen = _chosen(operator)
    from steward.runtime.manager.run import Operator, run_operators

    code = run_operators(
        [Operator(found.name, importlib.import_module(found.module).set_up) for found in chosen], settings
    )
    click.get_current_context().exit(code)


def _settings(flags: dict[str, str]) -> Settings:
    try:
        return settings_from(os.environ, flags)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


def _chosen(operator: str | None) -> list[Registered]:
    if operator is not None and operator not in OPERATORS:
        known = ", ".join(OPERATORS) or "none"
        raise click.UsageError(f"{operator} is no operator of this version of Steward; available: {known}")
    if not OPERATORS:
        raise click.ClickException("this version of Steward has no operator to run yet")
    return [OPERATORS[operator]] if operator else list(OPERATORS.values())


command = click.Command(
    "run",
    callback=_run,
    params=[
        click.Argument(["operator"], required=False, metavar="[multigres|tenants]"),
        *(_option(setting) for setting in all_settings()),
        click.Option(
            ["--print-settings"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_table,
            help="Print the table of all settings, in Markdown.",
        ),
    ],
    help="""Run the operators against a cluster, both unless one is named.

    Every flag can also be given by the environment variable in brackets; the flag wins.""",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
