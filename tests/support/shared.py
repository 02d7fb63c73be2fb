"""Resources that the workers of one test run share: the first user starts one, and it is stopped after the last user.

Workers are processes that end one by one. The worker that started a resource may finish first: it then waits for the
others. Workers communicate by files; the kernel releases the locks of workers that die.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.support.workers.worker import WORKER

_POLL_SECONDS = 0.1

Start = Callable[[], AbstractContextManager[str]]


def run_directory(factory: pytest.TempPathFactory) -> Path:
    """A directory that all workers of this run share."""
    base = factory.getbasetemp()
    directory = (base.parent if WORKER in os.environ else base) / "shared"
    directory.mkdir(exist_ok=True)
    return directory


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock between processes."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def shared_resource(directory: Path, start: Start) -> Iterator[str]:
    """The value that `start` yields, called here or in another worker with the same directory."""
    value = directory / "known"
    with (directory / "users").open("a") as users:
        with exclusive(directory / "gate"):
            started = None if value.exists() else start()
            if started is not None:
                value.write_text(started.__enter__())
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield value.read_text()
        finally:
            fcntl.flock(users, fcntl.LOCK_UN)
            if started is not None:
                _wait_for_other_users(directory, users)
                started.__exit__(None, None, None)


def _wait_for_other_users(directory: Path, users: IO[str]) -> None:
    """Delete the value under the lock once there is no other user: a later user starts another resource."""
    while True:
        with exclusive(directory / "gate"):
            if _is_only_user(users):
                (directory / "known").unlink()
                return
        time.sleep(_POLL_SECONDS)


def _is_only_user(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
