"""Starts operators, verbs and programs of the tests as forks of a process that has imported what they need.

    python -m tests.support.prepared_process FD OPERATOR MODULE:NAME=SECONDS...

A run starts hundreds of operators, and each would import the same thousand modules. A prepared process sets the
periods (short_periods.py) and imports the operator, as `steward run` would after it; then it forks for each request
that arrives on the socket FD. It has no threads, event loops or connections, so a fork is as good as a fresh
interpreter. Each worker has one for each operator and set of periods. Tests of the command line, of `steward up` and of
a restored API server start `steward` itself.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.support import short_periods
from tests.support.paths import ROOT

VERBS = "verbs"
"""In place of an operator: all verbs of the command line."""
PROGRAM_SUFFIX = ".py"
"""In place of an operator: a program of the tests, which a fork runs anew with its own variables."""
IMPORTED = ("steward.cli.main", "steward.cli.commands.run", "steward.runtime.manager.run")


class PreparedProcess(subprocess.Popen[bytes]):
    """A forked process, as `subprocess.Popen` shows its own: the prepared process is its parent and reports its end."""

    def __init__(self, args: Sequence[str], pid: int, end: int) -> None:
        self.args = list(args)
        self.pid = pid
        self.stdin = self.stdout = self.stderr = None
        self.returncode: int | None = None
        self._end = end

    def poll(self) -> int | None:
        return self._read_end(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._read_end(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def _read_end(self, timeout: float | None) -> int | None:
        if self.returncode is None and _is_readable(self._end, timeout):
            status = os.read(self._end, 16)
            os.close(self._end)
            assert status, "the prepared process has ended"
            self.returncode = os.waitstatus_to_exitcode(int(status))
        return self.returncode

    def __del__(self, *_: object) -> None:
        if self.returncode is None and hasattr(self, "_end"):
            os.close(self._end)


def _is_readable(descriptor: int, timeout: float | None) -> bool:
    found = select.poll()  # unlike select, for any descriptor
    found.register(descriptor, select.POLLIN)
    return bool(found.poll(None if timeout is None else timeout * 1000))


class Forks:
    """A prepared process and the connection to it."""

    def __init__(self, operator: str, periods: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._connection, other = socket.socketpair()
        words = [str(other.fileno()), operator, *periods]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.prepared_process", *words],
            cwd=ROOT,
            pass_fds=[other.fileno()],
        )
        other.close()

    def start(
        self, args: Sequence[str], environment: Mapping[str, str], output: int, errors: int | None = None
    ) -> PreparedProcess:
        """Runs the command in a fork, with these variables; both outputs go to the first file if there is no second."""
        request = {"args": list(args), "environment": dict(environment), "directory": str(Path.cwd())}
        text = json.dumps(request).encode()
        end, exit_pipe = os.pipe()
        try:
            with self._lock:
                socket.send_fds(
                    self._connection,
                    [len(text).to_bytes(4, "big")],
                    [output, output if errors is None else errors, exit_pipe],
                )
                self._connection.sendall(text)
                pid = int.from_bytes(_received(self._connection, 4), "big")
        finally:
            os.close(exit_pipe)
        return PreparedProcess(args, pid, end)

    def close(self) -> None:
        """The prepared process ends when nobody can send a request any more."""
        self._connection.close()
        self._process.wait(timeout=60)


_FORKS: dict[tuple[str, ...], Forks] = {}


def forks_of(operator: str, periods: Sequence[str]) -> Forks:
    """The first request starts the prepared process, which stays until `close_forks`."""
    key = (operator, *periods)
    if key not in _FORKS:
        _FORKS[key] = Forks(operator, periods)
    return _FORKS[key]


def close_forks() -> None:
    while _FORKS:
        _FORKS.popitem()[1].close()


def _received(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        assert part, "the prepared process has ended"
        found += part
    return found


class Request(NamedTuple):
    args: list[str]
    environment: dict[str, str]
    directory: str
    output: int
    errors: int
    exit_pipe: int


def received_request(connection: socket.socket) -> Request | None:
    """The next request; None if the worker has ended."""
    length, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    if not length:
        return None
    content = json.loads(_received(connection, int.from_bytes(length, "big")))
    output, errors, exit_pipe = descriptors
    return Request(**content, output=output, errors=errors, exit_pipe=exit_pipe)


def next_fork(connection: socket.socket) -> Request | None:
    """Forks for each request, and reports the ends of the forks. Returns in a fork, and when the worker has ended."""
    exit_pipes: dict[int, int] = {}
    wakeup, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C reaches all processes of a terminal; this one ends with the worker.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([connection.fileno(), wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 4096)
            _report_ends(exit_pipes)
        if connection.fileno() in ready:
            request = received_request(connection)
            if request is None:
                return None
            pid = os.fork()
            if pid == 0:
                _become(request, [connection.detach(), wakeup, written, *exit_pipes.values()])
                return request
            exit_pipes[pid] = request.exit_pipe
            os.close(request.output)
            os.close(request.errors)
            connection.sendall(pid.to_bytes(4, "big"))


def _report_ends(exit_pipes: dict[int, int]) -> None:
    while exit_pipes:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with suppress(BrokenPipeError):  # nobody waits for it any more
            os.write(exit_pipes[pid], str(status).encode())
        os.close(exit_pipes.pop(pid))


def _become(request: Request, inherited: list[int]) -> None:
    """Give this fork what `subprocess` would give a new process."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(request.output, 1)
    os.dup2(request.errors, 2)
    for descriptor in (*inherited, request.output, request.errors, request.exit_pipe):
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.directory)


def _modules_of(word: str) -> list[str]:
    if word.endswith(PROGRAM_SUFFIX):
        path = Path(word).relative_to(ROOT).with_suffix("")
        return [".".join(path.parts)]
    if word != VERBS:
        return [f"steward.{word}.operator"]
    return [verb.module for verb in importlib.import_module("steward.cli.main").VERBS.values()]


def main() -> None:
    descriptor, operator, *periods = sys.argv[1:]
    short_periods.set_periods(periods)
    for module in (*IMPORTED, *_modules_of(operator)):
        importlib.import_module(module)
    gc.freeze()
    request = next_fork(socket.socket(fileno=int(descriptor)))
    if request is None:
        return
    sys.argv[:] = request.args
    if operator.endswith(PROGRAM_SUFFIX):
        os.setsid()  # tests kill the whole group
        runpy.run_path(operator, run_name="__main__")
    else:
        importlib.import_module("steward.cli.main").main()


if __name__ == "__main__":
    main()
