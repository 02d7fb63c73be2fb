"""The pytest plugin: its option, its hook, and the loop over the tests if there are workers."""

from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from tests.support.scheduling import grouped
from tests.support.workers.pool import WorkerPool


class WorkerHooks:
    @pytest.hookspec
    def pytest_worker_ended(self, output: dict[str, Any]) -> None:
        """Called in the main process with the `config.workeroutput` of each worker."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(WorkerHooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="run test files in N processes; 0: in this one")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """None leaves the loop to pytest, also if collection has failed."""
    config = session.config
    count: int = config.getoption("--workers")
    if count < 1 or config.option.collectonly or session.testsfailed:
        return None
    terminal = config.pluginmanager.getplugin("terminalreporter")
    assert isinstance(terminal, TerminalReporter)
    # Reports of different files alternate: a line for each change of the file would be most of the output.
    terminal.showfspath = False
    WorkerPool(session, grouped(session.items), count).run()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True
