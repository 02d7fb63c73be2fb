"""Runs operators in one process: the entry point of `steward run` and of other programs with controllers.

An operator is a name and a function that declares its rules, controllers and services on a manager. An error that a
user can fix ends the process with one message and exit code 1; a traceback means a bug in Steward.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from steward.kube.errors import KubeError
from steward.runtime.manager.clients import open_connection
from steward.runtime.manager.election import LeaderLost
from steward.runtime.manager.garbage_collection import collect_less_often
from steward.runtime.manager.identity import Identity, identity
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.observability import tracing
from steward.runtime.observability.logging import set_up_logs

log = logging.getLogger(__name__)

# An OSError is an address in use or an unreadable file; its message names it.
USER_ERRORS = (KubeError, LeaderLost, OSError, tracing.TracingError)


class SetUp(Protocol):
    def __call__(self, manager: Manager, settings: Settings) -> object: ...


class Operator(NamedTuple):
    """`name` is used for its lease, events, traces and user agent."""

    name: str
    set_up: SetUp


def run_operators(
    operators: Sequence[Operator], settings: Settings, environ: Mapping[str, str] = os.environ
) -> int:
    """Runs until a signal; returns the exit code of the process."""
    set_up_logs(settings.log_level, settings.log_format)
    collect_less_often()
    try:
        asyncio.run(_run(operators, settings, environ))
    except USER_ERRORS as error:
        message = str(error)
    else:
        return 0
    log.error("%s", message)
    return 1


async def _run(operators: Sequence[Operator], settings: Settings, environ: Mapping[str, str]) -> None:
    who = identity(_common_name(operators), environ)
    if tracing.start_tracing(who.name, who.version, environ):
        log.info("tracing is on")
    manager = Manager(await open_connection(settings, who, environ), settings)
    for operator in operators:
        operator.set_up(manager, settings)
    _log_start(operators, who)
    await manager.run()


def _common_name(operators: Sequence[Operator]) -> str:
    return operators[0].name if len(operators) == 1 else "steward"


def _log_start(operators: Sequence[Operator], who: Identity) -> None:
    names = [operator.name for operator in operators]
    python = ".".join(map(str, sys.version_info[:3]))
    log.info("starting", extra={"operators": names, "version": who.version, "python": python})
