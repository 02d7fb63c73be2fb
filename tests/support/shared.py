"""What the workers of one test run share: the first that asks starts it, and it ends after the last has let go.

Workers are processes that pytest-xdist starts and ends one by one, so the one that started a thing may be done first:
it then waits for the others. All that is known of each other is in files; the kernel drops the locks of those that die.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

import pytest

_POLL_SECONDS = 0.1

Start = Callable[[], AbstractContextManager[str]]


def run_directory(factory: pytest.TempPathFactory) -> Path:
    """A directory that all workers of this run have in common."""
    base = factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    directory.mkdir(exist_ok=True)
    return directory


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """One at a time, across processes."""
    with path.open("a") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield


@contextmanager
def shared(directory: Path, start: Start) -> Iterator[str]:
    """What `start` says of the thing that it started, here or in another worker that uses the same directory."""
    known = directory / "known"
    with (directory / "users").open("a") as users:
        with exclusive(directory / "gate"):
            started = None if known.exists() else start()
            if started is not None:
                known.write_text(started.__enter__())
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield known.read_text()
        finally:
            fcntl.flock(users, fcntl.LOCK_UN)
            if started is not None:
                _wait_for_the_last(directory, users)
                started.__exit__(None, None, None)


def _wait_for_the_last(directory: Path, users: IO[str]) -> None:
    """Forgets the thing in the same moment in which nobody uses it: who comes later starts another one."""
    while True:
        with exclusive(directory / "gate"):
            if _nobody_else(users):
                (directory / "known").unlink()
                return
        time.sleep(_POLL_SECONDS)


def _nobody_else(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
