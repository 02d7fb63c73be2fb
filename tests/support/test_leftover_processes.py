"""No process survives the test run that started it, also if the run is interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.leftover_processes import RUN, command_of, end_processes
from tests.support.paths import ROOT

SLEEPER = "import time; print('started', flush=True); time.sleep(1000)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"
INTERRUPTED = """
import subprocess, sys

def test_interrupted():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    with open("pid", "w") as file:
        file.write(f"{process.pid}\\n")
    raise KeyboardInterrupt
"""
WAITING = INTERRUPTED.replace("raise KeyboardInterrupt", "process.wait(timeout=1000)")


@contextmanager
def process_of(run: str, program: str = SLEEPER) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env=os.environ | {RUN: run}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def short_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.leftover_processes.END_SECONDS", 0.2)


def test_processes_of_a_run_are_ended_and_those_of_another_run_are_not(tmp_path: Path) -> None:
    run = str(tmp_path)
    with process_of(run) as ours, process_of(f"{run}-other") as other:
        (command,) = end_processes(run)
        assert ours.wait(timeout=60) < 0
        assert other.poll() is None
    assert "time.sleep(1000)" in command


@pytest.mark.usefixtures("short_end")
def test_a_process_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    with process_of(str(tmp_path), STUBBORN) as process:
        end_processes(str(tmp_path))
        assert process.wait(timeout=60) == -9


def start_run(directory: Path, test: str) -> "subprocess.Popen[str]":
    """A pytest that is no part of this run, with one test."""
    (directory / "test_it.py").write_text(test)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment.pop(RUN, None)
    # Loading the other plugins takes longer than the test.
    environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["-q", "-p", "tests.support.leftover_processes", "-c", "/dev/null"]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            *options,
            "--rootdir",
            str(directory),
            str(directory / "test_it.py"),
        ],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_interrupted_run_leaves_no_process(tmp_path: Path) -> None:
    with start_run(tmp_path, INTERRUPTED) as run:
        output, error = run.communicate(timeout=300)
    assert "ended processes that the tests left behind" in error, output
    assert not command_of(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_a_killed_run_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    with start_run(tmp_path, WAITING) as run:
        pid = int(until(lambda: _written(tmp_path / "pid"), "the test to start its process"))
        assert command_of(pid)
        run.send_signal(number)
        run.communicate(timeout=300)
    until(lambda: not command_of(pid), f"process {pid} to be ended")


def _written(file: Path) -> str:
    text = file.read_text() if file.exists() else ""
    return text if text.endswith("\n") else ""


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + 300
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found
