"""Asks multiadmin for the status of all servers of a shard at once."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from steward.multiadmin.client import Multiadmin
from steward.multiadmin.errors import MultiadminError, RequestRejected
from steward.multigres.servers.pooler_status import server_report
from steward.multigres.servers.reports import ServerId, ServerReport

ANSWER_SECONDS = 3.0
"""For all servers together. multiadmin waits for a pooler whose pod is gone; the others must not wait with it."""
QUICK_SECONDS = 0.2
NO_ANSWER = f"no answer within {ANSWER_SECONDS:g} s"


Reading = asyncio.Task[ServerReport]


class Answers(NamedTuple):
    """Reports and errors by name of the server; `unreachable` says why multiadmin itself did not answer."""

    reports: Mapping[str, ServerReport]
    errors: Mapping[str, str]
    unreachable: str = ""


async def read_reports(multiadmin: Multiadmin, servers: Iterable[ServerId]) -> Answers:
    tasks: dict[str, Reading] = {}
    try:
        await _begin(tasks, multiadmin, servers)
        if any(not task.done() for task in tasks.values()):
            await asyncio.wait(tasks.values(), timeout=ANSWER_SECONDS)
    finally:
        late = [task for task in tasks.values() if task.cancel()]
        await asyncio.gather(*late, return_exceptions=True)
    return _collect({name: _outcome(task) for name, task in tasks.items()})


async def _begin(tasks: dict[str, Reading], multiadmin: Multiadmin, servers: Iterable[ServerId]) -> None:
    """One after another, so that they use one connection, which costs as much as two requests; all at once after the
    first that is slow."""
    is_quick = True
    for server in servers:
        task = tasks[server.name] = asyncio.create_task(_read_report(multiadmin, server))
        if is_quick:
            await asyncio.wait({task}, timeout=QUICK_SECONDS)
            is_quick = task.done()


async def _read_report(multiadmin: Multiadmin, server: ServerId) -> ServerReport:
    return server_report(await multiadmin.pooler_status(server.cell, server.name))


def _outcome(task: Reading) -> ServerReport | MultiadminError:
    if task.cancelled():
        return MultiadminError(NO_ANSWER)
    error = task.exception()
    if error is None:
        return task.result()
    if not isinstance(error, MultiadminError):
        raise error
    return error


def _collect(outcomes: Mapping[str, ServerReport | MultiadminError]) -> Answers:
    reports = {name: each for name, each in outcomes.items() if isinstance(each, ServerReport)}
    failures = {name: each for name, each in outcomes.items() if isinstance(each, MultiadminError)}
    errors = {name: _words(error) for name, error in failures.items()}
    has_answered = reports or any(isinstance(error, RequestRejected) for error in failures.values())
    is_away = bool(failures) and not has_answered
    return Answers(reports, errors, str(next(iter(failures.values()))) if is_away else "")


def _words(error: MultiadminError) -> str:
    """multiadmin's own sentence if it has answered: the address of multiadmin explains nothing then."""
    return (error.sentence if isinstance(error, RequestRejected) else "") or str(error)
