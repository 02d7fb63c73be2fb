"""Runs an operator as a separate process, as in production."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from tests.support.prepared_process import forks_of
from tests.support.short_periods import periods_of

_END_SECONDS = 90
_running: "list[tuple[subprocess.Popen[bytes], Path]]" = []


class OperatorProcess(NamedTuple):
    """An operator and its kubeconfig; it works in one namespace, so that tests can run in parallel.

    `launcher` is a command that becomes the operator, such as one that limits its memory first.
    """

    word: str
    kubeconfig: Path
    namespace: str
    log: Path
    flags: tuple[str, ...] = ()
    launcher: tuple[str, ...] = ()


@contextmanager
def run_operator_process(operator: OperatorProcess, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the operator; it must terminate in order, and its log must contain no traceback."""
    environment = os.environ | {
        "KUBECONFIG": str(operator.kubeconfig),
        "STEWARD_NAMESPACES": operator.namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
        **{f"STEWARD_{name.upper()}": value for name, value in settings.items()},
    }
    with operator.log.open("wb") as output:
        process = _start(operator, environment, output)
        entry = (process, operator.log)
        _running.append(entry)
        try:
            yield process
        finally:
            _running.remove(entry)
            process.terminate()
            code = process.wait(timeout=_END_SECONDS)
    text = operator.log.read_text()
    # A test that ends before the operator has started kills an interpreter without a signal handler.
    has_started = code != -signal.SIGTERM or text != ""
    assert code == 0 or not has_started, text
    assert "Traceback" not in text, text


def fail_if_an_operator_has_ended() -> None:
    """For loops that wait for an operator of this test: one that has crashed never does what they wait for."""
    for process, log in _running:
        if process.poll() not in (None, 0, -signal.SIGTERM):
            end = "\n".join(log.read_text().splitlines()[-20:])
            pytest.fail(f"an operator has ended with {process.returncode}; its log ends with:\n{end}")


def _start(
    operator: OperatorProcess, environment: dict[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    command = [str(Path(sys.executable).parent / "steward"), "run", operator.word, *operator.flags]
    periods = periods_of(operator.launcher)
    if periods is not None:
        return forks_of(operator.word, periods).start(command, environment, output.fileno())
    return subprocess.Popen([*operator.launcher, *command], env=environment, stdout=output, stderr=output)


@asynccontextmanager
async def run_operator_process_async(operator: OperatorProcess, **settings: str) -> AsyncIterator[None]:
    """The same in a thread, for operators that use a proxy of this process: the event loop must not block."""
    process = run_operator_process(operator, **settings)
    await asyncio.to_thread(process.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(process.__exit__, None, None, None)
