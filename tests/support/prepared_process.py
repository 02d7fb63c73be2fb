"""Starts operators, verbs and programs of the tests as forks of a process that has imported what they need.

    python -m tests.support.prepared_process ADDRESS OPERATOR MODULE:NAME=SECONDS...

A run starts hundreds of operators, and each would import the same thousand modules. A prepared process sets the
periods (short_periods.py) and imports the operator, as `steward run` would after it; then it forks for each request
of a worker. It has no threads, event loops or connections to servers, so a fork is as good as a fresh interpreter.
The workers of a run share one for each operator and set of periods: the first that needs it starts it, and it ends with
the connection of the last. Tests of the command line, of `steward up` and of a restored API server start `steward`
itself.
"""

import errno
import gc
import hashlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.support import short_periods
from tests.support.leftover_processes import RUN
from tests.support.paths import ROOT

VERBS = "verbs"
"""In place of an operator: all verbs of the command line."""
PROGRAM_SUFFIX = ".py"
"""In place of an operator: a program of the tests, which a fork runs anew with its own variables."""
_START_SECONDS = 60.0
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
    """A connection to a prepared process."""

    def __init__(self, operator: str, periods: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._words = (operator, *periods)
        self._connection = connected(self._words)

    def start(
        self, args: Sequence[str], environment: Mapping[str, str], output: int, errors: int | None = None
    ) -> PreparedProcess:
        """Runs the command in a fork, with these variables; both outputs go to the first file if there is no second."""
        request = {"args": list(args), "environment": dict(environment), "directory": str(Path.cwd())}
        outputs = [output, output if errors is None else errors]
        end, exit_pipe = os.pipe()
        try:
            with self._lock:
                pid = self._send(json.dumps(request).encode(), [*outputs, exit_pipe])
        finally:
            os.close(exit_pipe)
        return PreparedProcess(args, pid, end)

    def close(self) -> None:
        self._connection.close()

    def _send(self, request: bytes, descriptors: list[int]) -> int:
        try:
            return _sent(self._connection, request, descriptors)
        except OSError:
            # It has ended with the connection of another worker, just before it would have accepted this one.
            self._connection.close()
            self._connection = connected(self._words)
            return _sent(self._connection, request, descriptors)


def _sent(connection: socket.socket, request: bytes, descriptors: list[int]) -> int:
    socket.send_fds(connection, [len(request).to_bytes(4, "big")], descriptors)
    connection.sendall(request)
    return int.from_bytes(_received(connection, 4), "big")


def connected(words: Sequence[str]) -> socket.socket:
    """A connection to the prepared process of this run, which is started if there is none."""
    address = address_of(words)
    deadline = time.monotonic() + _START_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX)
        with suppress(ConnectionRefusedError):
            connection.connect(_abstract(address))
            return connection
        connection.close()
        assert time.monotonic() < deadline, "the prepared process does not listen"
        # Of two workers that start it at once, one process finds the address in use, and ends.
        command = [sys.executable, "-m", "tests.support.prepared_process", address, *words]
        subprocess.run(command, cwd=ROOT, check=True, timeout=_START_SECONDS)


def address_of(words: Sequence[str]) -> str:
    run = os.environ.get(RUN, str(os.getpid()))
    return f"steward-tests-{run}-{hashlib.sha256(repr(words).encode()).hexdigest()[:16]}"


def _abstract(address: str) -> str:
    """The kernel removes it with the process; its length does not depend on a directory."""
    return f"\0{address}"


_FORKS: dict[tuple[str, ...], Forks] = {}


def forks_of(operator: str, periods: Sequence[str]) -> Forks:
    """The first request connects to the prepared process; the connection stays until `close_forks`."""
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
        if not part:
            raise ConnectionResetError("the prepared process has ended")
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


class ForkServer:
    """Forks for each request, and reports the ends of the forks."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._connections: list[socket.socket] = []
        self._exit_pipes: dict[int, int] = {}
        self._wakeup, self._written = os.pipe()
        os.set_blocking(self._written, False)

    def next_fork(self) -> Request | None:
        """Returns in a fork, and when no worker is connected any more."""
        signal.set_wakeup_fd(self._written)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Ctrl-C reaches all processes of a terminal; this one ends with the workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._accept()
        while self._connections:
            ready, _, _ = select.select([self._listener, *self._connections, self._wakeup], [], [])
            if self._wakeup in ready:
                os.read(self._wakeup, 4096)
                _report_ends(self._exit_pipes)
            if self._listener in ready:
                self._accept()
            for connection in [each for each in self._connections if each in ready]:
                if request := self._answered(connection):
                    return request
        return None

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        # Another user of this machine could connect to the address too.
        if struct.unpack("3i", credentials)[1] == os.getuid():
            self._connections.append(connection)
        else:
            connection.close()

    def _answered(self, connection: socket.socket) -> Request | None:
        """The request, in the fork that is made for it; None in this process."""
        request = received_request(connection)
        if request is None:
            self._connections.remove(connection)
            connection.close()
            return None
        pid = os.fork()
        if pid == 0:
            own = [self._listener, *self._connections]
            _become(
                request,
                [*(each.detach() for each in own), self._wakeup, self._written, *self._exit_pipes.values()],
            )
            return request
        self._exit_pipes[pid] = request.exit_pipe
        os.close(request.output)
        os.close(request.errors)
        with suppress(OSError):  # the worker has ended
            connection.sendall(pid.to_bytes(4, "big"))
        return None


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


def listening(address: str) -> socket.socket:
    """Ends this process if another one listens already."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(_abstract(address))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        sys.exit()
    listener.listen()
    return listener


def main() -> None:
    address, operator, *periods = sys.argv[1:]
    listener = listening(address)
    # It outlives the worker that has started it, and that waits for this process before it connects.
    if os.fork():
        return
    short_periods.set_periods(periods)
    for module in (*IMPORTED, *_modules_of(operator)):
        importlib.import_module(module)
    gc.freeze()
    request = ForkServer(listener).next_fork()
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
