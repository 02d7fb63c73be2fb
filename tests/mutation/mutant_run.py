"""Runs tests in a forked process that imports a mutant in place of its module: no file of the tree changes.

Each run forks a process in which pytest and the libraries of the tests are loaded and nothing of Steward is: loading
them takes three times as long as most runs.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import aiohttp  # noqa: F401 (loaded for the forked processes, as are the next ones)
import hypothesis.strategies  # noqa: F401
import msgspec  # noqa: F401
import pytest
import pytest_asyncio.plugin  # noqa: F401
import yaml  # noqa: F401

from tests.support.paths import ROOT

TIMEOUT_SECONDS: Final = 300.0
POLL_SECONDS: Final = 0.02
# Plugins of pytest are among the loaded libraries; their own assertions need no explanation.
OPTIONS: Final = [
    *("-q", "-x", "-p", "no:cacheprovider", "-m", "not needs_server"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
]
BROKEN: Final = 1


class MutantFinder(importlib.abc.MetaPathFinder):
    def __init__(self, module: str, file: Path) -> None:
        self._module = module
        self._file = file

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._module:
            return None
        return importlib.util.spec_from_file_location(fullname, self._file)


class MutantRun(NamedTuple):
    """The module that is replaced, and the file with the mutant."""

    module: str
    file: Path

    def exit_code(self, tests: Sequence[str]) -> int:
        """Of pytest; a run that does not end has failed."""
        child = os.fork()
        if child == 0:
            self._run_and_exit(tests)
        return _wait(child)

    def _run_and_exit(self, tests: Sequence[str]) -> None:
        code = BROKEN
        try:
            _discard_output()
            os.chdir(ROOT)
            assert self.module not in sys.modules, "the mutant would not be imported"
            sys.meta_path.insert(0, MutantFinder(*self))
            code = int(pytest.main([*OPTIONS, *tests]))
        finally:
            os._exit(code)


def _discard_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())


def _wait(child: int) -> int:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(POLL_SECONDS)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return BROKEN
