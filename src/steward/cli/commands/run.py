"""`steward run`: runs the operators until a signal.

The flags are generated from the settings in `steward.runtime.manager.settings`.
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


class OperatorModule(NamedTuple):
    """The name of an operator in the cluster, and the module with its `set_up(manager, settings)`."""

    name: str
    module: str


OPERATORS: dict[str, OperatorModule] = {
    "multigres": OperatorModule("multigres-operator", "steward.multigres.operator"),
    "tenants": OperatorModule("tenant-operator", "steward.tenants.operator"),
}
"""The operators that `steward run` can start, by the name on the command line."""


_EPILOG = """\b
Examples:
  steward run                                        both, against the cluster of the kubeconfig
  steward run tenants --shard 0/4 --log-format json
  steward run multigres --namespaces shop --connect-to @connect-to.txt
\b
Exit codes: 0 stopped by a signal, 1 an error reported in one sentence (such as a lost lease), 2 wrong usage.
\b
Needs the rights that `steward install` gives the operators' service accounts.
"""


def _option(setting: Setting) -> click.Option:
    is_switch = isinstance(setting.default, bool)
    return click.Option(
        [setting.flag, setting.name],
        help=f"{setting.spec.help} [{setting.variable}]",
        metavar="[true|false]" if is_switch else "VALUE",
        is_flag=False,
        flag_value="true" if is_switch else None,
    )


def _print_settings(ctx: click.Context, _: click.Parameter, is_requested: bool) -> None:
    if is_requested:
        click.echo(table(), nl=False)
        ctx.exit()


def _run(operator: str | None, **flags: str | None) -> None:
    settings = _parse_settings({name: text for name, text in flags.items() if text is not None})
    chosen = _choose_operators(operator)
    from steward.runtime.manager.run import Operator, run_operators

    code = run_operators(
        [Operator(entry.name, importlib.import_module(entry.module).set_up) for entry in chosen], settings
    )
    click.get_current_context().exit(code)


def _parse_settings(flags: dict[str, str]) -> Settings:
    try:
        return settings_from(os.environ, flags)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


def _choose_operators(operator: str | None) -> list[OperatorModule]:
    if operator is not None and operator not in OPERATORS:
        names = ", ".join(OPERATORS) or "none"
        raise click.UsageError(
            f"{operator} is not an operator of this version of Steward; available: {names}"
        )
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
            callback=_print_settings,
            help="Print the table of all settings, in Markdown.",
        ),
    ],
    help="""Run the operators against a cluster, both unless one is named.

    Every flag can also be given by the environment variable in brackets; the flag wins.""",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
