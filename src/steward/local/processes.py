"""Starts processes that outlive the command that started them, and finds them again by their pid files.

Invariant: only processes that we started are ever signalled. A pid file names a process by id, start time and boot id;
if the process with that id does not match all three, the file is stale. Signals are sent through a pidfd that is opened
before this check, so the id cannot be reused in between.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_EXEC_SHIM = Path(__file__).with_name("exec_shim.py")
_POLL_SECONDS = 0.02
_KILL_SECONDS = 10.0


class Lifetime(Enum):
    """Whether a process outlives the process that started it."""

    OWN = "own"  # outlives it
    PARENT = "parent"  # is killed by the kernel


@dataclass(frozen=True)
class Service:
    """A long-running process with the files `NAME.pid` and `NAME.log` in `directory`."""

    name: str
    directory: Path

    @property
    def pidfile(self) -> Path:
        return self.directory / f"{self.name}.pid"

    @property
    def logfile(self) -> Path:
        return self.directory / f"{self.name}.log"

    def start(self, command: list[str], lifetime: Lifetime) -> None:
        """Start `command`. The caller makes sure that no earlier process is running."""
        self.pidfile.unlink(missing_ok=True)
        self._keep_last_log()
        parent = str(os.getpid() if lifetime is Lifetime.PARENT else 0)
        # posix_spawn, because subprocess.Popen kills or warns about processes that outlive it.
        arguments = [
            sys.executable,
            "-I",
            "-S",
            str(_EXEC_SHIM),
            str(self.pidfile),
            str(self.logfile),
            parent,
        ]
        pid = os.posix_spawn(sys.executable, [*arguments, *command], os.environ)
        # The shim writes the same file; writing it here too makes `is_running` true as soon as this returns.
        _write(self.pidfile, {"pid": pid, "started": _start_time(pid), "boot": _boot()})

    def _keep_last_log(self) -> None:
        if self.logfile.exists():
            self.logfile.replace(self.logfile.with_suffix(".log.1"))

    def is_running(self) -> bool:
        identity = _read(self.pidfile)
        return identity is not None and _matches(identity)

    def has_pidfile(self) -> bool:
        """Whether it was started and not stopped since; it may have died."""
        return self.pidfile.exists()

    def log_tail(self, lines: int = 8) -> str:
        if not self.logfile.exists():
            return ""
        with self.logfile.open("rb") as log:
            log.seek(max(0, self.logfile.stat().st_size - 16_384))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal if it is running."""
        with _open_pidfd(self.pidfile) as pidfd:
            if pidfd is not None:
                _send_to_pidfd(pidfd, number)

    async def suspend(self) -> None:
        """Stop it until SIGCONT, and return when no thread runs any more: on a busy machine that takes a while."""
        self.send_signal(signal.SIGSTOP)
        # Polled, because nothing announces that a process has stopped.
        while self.is_running() and not _is_suspended(_read(self.pidfile)):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)

    async def stop(self, grace_seconds: float) -> None:
        """Terminate it, kill it after `grace_seconds`, and return when it has ended."""
        with _open_pidfd(self.pidfile) as pidfd:
            if pidfd is not None:
                _send_to_pidfd(pidfd, signal.SIGTERM)
                if not await _ended_within(pidfd, grace_seconds):
                    _send_to_pidfd(pidfd, signal.SIGKILL)
                    await _ended_within(pidfd, _KILL_SECONDS)
        self.is_running()  # reaps it if it was our child
        self.pidfile.unlink(missing_ok=True)


async def _ended_within(pidfd: int, seconds: float) -> bool:
    """Poll the pidfd: it is readable once the last thread, and every socket, is closed; /proc shows the end earlier."""
    deadline = time.monotonic() + seconds
    while not select.select([pidfd], [], [], 0)[0]:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


Identity = dict[str, object]


def _read(pidfile: Path) -> Identity | None:
    try:
        identity = json.loads(pidfile.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return identity if isinstance(identity, dict) and isinstance(identity.get("pid"), int) else None


def _write(pidfile: Path, identity: Identity) -> None:
    incomplete = pidfile.with_suffix(".starting")
    incomplete.write_text(json.dumps(identity))
    incomplete.replace(pidfile)


def _matches(identity: Identity) -> bool:
    pid = identity["pid"]
    assert isinstance(pid, int)
    return identity.get("boot") == _boot() and identity.get("started") == _start_time(pid)


def _start_time(pid: int) -> int | None:
    """In clock ticks since boot; None for a process that has ended. Reaps the process if it is a dead child of ours."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def _is_suspended(identity: Identity | None) -> bool:
    """Whether every thread is stopped; True for a process that has ended."""
    if identity is None:
        return True
    with suppress(FileNotFoundError, ProcessLookupError):
        threads = Path(f"/proc/{identity['pid']}/task").glob("*/stat")
        return all(thread.read_text().rpartition(")")[2].split()[0] == "T" for thread in threads)
    return True


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@contextmanager
def _open_pidfd(pidfile: Path) -> Iterator[int | None]:
    """A pidfd of the process that `pidfile` names, or None if there is no such process."""
    identity = _read(pidfile)
    if identity is None:
        yield None
        return
    pid = identity["pid"]
    assert isinstance(pid, int)
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        yield None
        return
    try:
        yield pidfd if _matches(identity) else None
    finally:
        os.close(pidfd)


def _send_to_pidfd(pidfd: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)
