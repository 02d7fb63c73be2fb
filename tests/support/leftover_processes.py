"""Ends the processes that a test run leaves behind, such as operators whose worker was killed after Ctrl-C.

Every process that a run starts inherits its number in an environment variable. The run that has set the variable looks
for such processes when it ends; a pytest that a test starts does not. A run that is killed cannot look: a process
outside of the run waits for its end and does it then. Only Linux shows the environment of a process.
"""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

RUN: Final = "STEWARD_TEST_RUN"
END_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.05
_PROCESSES: Final = Path("/proc")
_own_run = pytest.StashKey[str]()
_watcher = pytest.StashKey["subprocess.Popen[bytes]"]()


def pytest_configure(config: pytest.Config) -> None:
    if RUN not in os.environ:
        run = uuid.uuid4().hex
        config.stash[_watcher] = start_watcher(run)
        config.stash[_own_run] = os.environ[RUN] = run


def pytest_unconfigure(config: pytest.Config) -> None:
    run = config.stash.get(_own_run, "")
    if not run:
        return
    del os.environ[RUN]
    if ended := end_processes(run):
        sys.stderr.write(f"ended processes that the tests left behind: {', '.join(ended)}\n")
    # Only now: this process may be killed until here.
    config.stash[_watcher].communicate(timeout=3 * END_SECONDS)


def start_watcher(run: str) -> "subprocess.Popen[bytes]":
    """Runs `watch`. The kernel closes its standard input when this process ends in any way; no signal of a terminal
    reaches it."""
    command = [sys.executable, "-P", __file__, run]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def watch(run: str) -> None:
    sys.stdin.read()
    end_processes(run)


def end_processes(run: str) -> list[str]:
    """Ends all processes of the run but this one; returns their commands."""
    found = {pid: command_of(pid) for pid in _processes_of(run)}
    for number, seconds in ((signal.SIGTERM, END_SECONDS), (signal.SIGKILL, END_SECONDS)):
        _signal_all(run, number)
        deadline = time.monotonic() + seconds
        while any(_processes_of(run)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
    return sorted(found.values())


def _signal_all(run: str, number: signal.Signals) -> None:
    for pid in list(_processes_of(run)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _processes_of(run: str) -> Iterator[int]:
    variable = f"{RUN}={run}".encode()
    for directory in _PROCESSES.glob("[0-9]*"):
        pid = int(directory.name)
        if pid != os.getpid() and variable in _read(directory / "environ").split(b"\0"):
            yield pid


def command_of(pid: int) -> str:
    """Empty for a process that has ended."""
    return _read(_PROCESSES / str(pid) / "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()


def _read(file: Path) -> bytes:
    """Empty for a process that has ended, or belongs to another user."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    watch(sys.argv[1])
