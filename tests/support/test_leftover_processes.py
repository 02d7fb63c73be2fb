"""No process survives the test run that started it, also if the run is interrupted."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
        file.write(str(process.pid))
    raise KeyboardInterrupt
"""


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


def test_an_interrupted_run_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(INTERRUPTED)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment.pop(RUN, None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.support.leftover_processes",
        "-p",
        "no:xdist",
    ]
    done = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path / "test_it.py")],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "ended processes that the tests left behind" in done.stderr, done.stdout
    assert not command_of(int((tmp_path / "pid").read_text()))
