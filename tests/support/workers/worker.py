"""A worker: a fork of the main process that runs the tests which the main process names, one by one."""

import ctypes
import os
import signal
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from _pytest.capture import CaptureManager
from _pytest.terminal import TerminalReporter

from tests.support.workers.messages import NextTest, RanTest, WorkerEnded

WORKER: Final = "STEWARD_TEST_WORKER"
"""The environment variable with the name of a worker, in it and in what it starts."""
_PR_SET_PDEATHSIG: Final = 1


class ReportCollector:
    """A plugin that keeps the reports of the running test."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        serialise = self._config.hook.pytest_report_to_serializable
        self._reports.append(serialise(config=self._config, report=report))

    def take(self) -> tuple[dict[str, Any], ...]:
        taken, self._reports = tuple(self._reports), []
        return taken


class _OtherGroup:
    """In place of the next test where that belongs to another group: fixtures of the session stay, others end."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def listchain(self) -> list[pytest.Session]:
        return [self._session]


def run_as_worker(session: pytest.Session, name: str, basetemp: Path, connection: Connection) -> NoReturn:
    """Called in the fork; ends the process."""
    try:
        _separate(session.config, name, basetemp)
        error = _run_tests(session, connection)
        output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]
        connection.send(WorkerEnded(output, error))
    except BaseException:
        with suppress(OSError):  # the main process has ended
            connection.send(WorkerEnded({}, traceback.format_exc()))
    finally:
        os._exit(0)


def _separate(config: pytest.Config, name: str, basetemp: Path) -> None:
    """Give the fork what it must not share with the main process and with other workers."""
    # Ctrl-C reaches the main process alone, which interrupts each worker once.
    os.setpgrp()
    # Unlike a process that a test starts, a fork cannot be found by its environment after the main process was killed.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ[WORKER] = name
    # pytest's own plugins leave files alone in a process that has these attributes.
    config.workerinput = {"workerid": name}  # type: ignore[attr-defined]
    config.workeroutput = {}  # type: ignore[attr-defined]
    temporary = config._tmp_path_factory  # type: ignore[attr-defined]
    temporary._basetemp = basetemp
    capture = config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    # Other files for captured output: forks share the position in the same one.
    capture.stop_global_capturing()
    capture.start_global_capturing()
    terminal = config.pluginmanager.getplugin("terminalreporter")
    assert isinstance(terminal, TerminalReporter)
    # Plugins ask for the terminal, so it stays, but the main process alone writes to it.
    terminal._tw._file = Path(os.devnull).open("w")  # noqa: SIM115 - open until the worker ends


def _run_tests(session: pytest.Session, connection: Connection) -> str:
    """Run tests until the main process names none; returns the error of the session's end, if any."""
    collector = ReportCollector(session.config)
    session.config.pluginmanager.register(collector)
    try:
        connection.send(RanTest(()))
        while (test := connection.recv()) is not None:
            _run_test(session, test)
            connection.send(RanTest(collector.take()))
    except (KeyboardInterrupt, EOFError, pytest.exit.Exception):
        pass
    try:
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=pytest.ExitCode.OK)
    except Exception:
        return traceback.format_exc()
    return ""


def _run_test(session: pytest.Session, test: NextTest) -> None:
    item = session.items[test.position]
    following: Any = _OtherGroup(session) if test.following is None else session.items[test.following]
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
