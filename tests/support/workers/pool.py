"""The main process's side: it forks workers, names their tests and passes their reports to pytest's plugins."""

import multiprocessing
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Literal, NamedTuple

import pytest

from tests.support.workers.messages import NextTest, RanTest, WorkerEnded
from tests.support.workers.worker import run_as_worker

END_SECONDS: Final = 120.0
"""How long interrupted workers may take to end what their tests have started."""

Group = Sequence[int]
"""Positions of tests that run in one worker, one after the other."""


class Gateway(NamedTuple):
    id: str


class ReportNode:
    """`report.node`, by which the terminal names the worker of a test (`-v`)."""

    _workerinfocache = ""  # no line about the interpreter with each failure: it is that of the main process

    def __init__(self, name: str) -> None:
        self.gateway = Gateway(name)


class Worker:
    def __init__(self, name: str, pid: int, connection: Connection) -> None:
        self.name = name
        self.pid = pid
        self.connection = connection
        self.group: deque[int] = deque()
        """The tests of its group that are left."""
        self.test: int | None = None
        """The test that it runs, or has run last."""
        self.is_running = False

    def run_next(self) -> None:
        self.test, self.is_running = self.group.popleft(), True
        self._send(NextTest(self.test, self.group[0] if self.group else None))

    def end(self) -> None:
        self.group.clear()
        self._send(None)

    def _send(self, message: NextTest | None) -> None:
        with suppress(OSError):  # it has died, which the next read shows
            self.connection.send(message)

    def wait(self) -> str:
        """How the process ended."""
        self.connection.close()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class WorkerPool:
    def __init__(self, session: pytest.Session, groups: Iterable[Group], count: int) -> None:
        self._session = session
        self._hook = session.config.hook
        self._groups = deque(groups)
        self._count = count
        self._workers: dict[Connection, Worker] = {}
        self._started = 0

    def run(self) -> None:
        """Run all groups, or end early when pytest says so (`-x`, Ctrl-C)."""
        try:
            for _ in range(min(self._count, len(self._groups))):
                self._start_worker()
            while self._workers:
                for connection in wait(list(self._workers)):
                    assert isinstance(connection, Connection)
                    self._receive(self._workers[connection])
        except BaseException:
            self._interrupt()
            raise

    def _start_worker(self) -> Worker:
        name = f"gw{self._started}"
        self._started += 1
        basetemp = self._session.config._tmp_path_factory.getbasetemp() / name  # type: ignore[attr-defined]
        basetemp.mkdir(mode=0o700)
        ours, theirs = multiprocessing.Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            for connection in (ours, *self._workers):
                connection.close()
            run_as_worker(self._session, name, basetemp, theirs)
        theirs.close()
        worker = self._workers[ours] = Worker(name, pid, ours)
        return worker

    def _receive(self, worker: Worker) -> None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return
        if isinstance(message, RanTest):
            worker.is_running = False
            self._report(worker, message)
            self._continue(worker)
        else:
            self._end(worker, message)

    def _report(self, worker: Worker, ran: RanTest) -> None:
        for data in ran.reports:
            report = self._hook.pytest_report_from_serializable(config=self._session.config, data=data)
            self._log(worker, report)
        if ran.reports:
            item = self._item(worker)
            self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _continue(self, worker: Worker) -> None:
        if self._session.shouldfail or self._session.shouldstop:
            self._groups.clear()
            worker.end()
            return
        if not worker.group and self._groups:
            worker.group = deque(self._groups.popleft())
        if worker.group:
            worker.run_next()
        else:
            worker.end()

    def _end(self, worker: Worker, message: WorkerEnded) -> None:
        del self._workers[worker.connection]
        worker.wait()
        if message.error:
            self._log(worker, self._failure(worker, "teardown", message.error))
        self._hook.pytest_worker_ended(output=message.output)

    def _replace(self, worker: Worker) -> None:
        """A worker that has died fails the test that it ran; another one runs the rest of its group."""
        del self._workers[worker.connection]
        text = f"worker {worker.name} ended unexpectedly with {worker.wait()}"
        self._log(worker, self._failure(worker, "call" if worker.is_running else "teardown", text))
        if worker.group or self._groups:
            self._start_worker().group = worker.group

    def _failure(self, worker: Worker, when: Literal["call", "teardown"], text: str) -> pytest.TestReport:
        item = self._item(worker)
        return pytest.TestReport(item.nodeid, item.location, {}, "failed", text, when)

    def _item(self, worker: Worker) -> pytest.Item:
        return self._session.items[worker.test or 0]

    def _log(self, worker: Worker, report: Any) -> None:
        report.node = ReportNode(worker.name)
        self._hook.pytest_runtest_logreport(report=report)

    def _interrupt(self) -> None:
        """Workers end what their tests have started; those that do not end are killed."""
        for worker in self._workers.values():
            os.kill(worker.pid, signal.SIGINT)
        deadline = time.monotonic() + END_SECONDS
        for worker in self._workers.values():
            ended = select.poll()
            pidfd = os.pidfd_open(worker.pid)
            ended.register(pidfd, select.POLLIN)
            if not ended.poll(max(0.0, deadline - time.monotonic()) * 1000):
                os.kill(worker.pid, signal.SIGKILL)
            os.close(pidfd)
            worker.wait()
        self._workers.clear()
