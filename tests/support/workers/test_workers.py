"""A run with workers has the results of a run without, whatever happens to a worker."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.leftover_processes import RUN
from tests.support.paths import ROOT
from tests.support.workers.worker import WORKER

CONFTEST = """
import os
import time
from pathlib import Path

import pytest

def note(text):
    with Path("log").open("a") as log:
        log.write(f"{os.environ.get('STEWARD_TEST_WORKER')} {text}\\n")

@pytest.fixture(scope="session", autouse=True)
def of_session():
    note("session begins")
    yield
    note("session ends")

@pytest.fixture(scope="module", autouse=True)
def of_module(request):
    yield
    note(f"{request.module.__name__} ends")

@pytest.fixture(autouse=True)
def of_test(request):
    note(request.node.name)

@pytest.fixture
def both_workers():
    # Ends when each of two workers runs a test.
    worker, deadline = os.environ["STEWARD_TEST_WORKER"], time.monotonic() + 60
    Path(f"reached by {worker}").touch()
    while len(list(Path().glob("reached by *"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
"""
FOUR = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(number): pass
"""


class Run:
    """A pytest that is no part of this run, and what its fixtures and tests have noted."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.write("conftest.py", CONFTEST)

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        for name in (RUN, WORKER):
            environment.pop(name, None)
        plugins = ["-p", "tests.support.workers.plugin", "-c", "/dev/null", "--rootdir", str(self.directory)]
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pytest",
                *plugins,
                "--basetemp",
                str(self.directory / "temporary"),
                *arguments,
            ],
            cwd=self.directory,
            env=environment | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        with self.start("--workers", "2", *arguments) as started:
            output = started.communicate(timeout=120)[0]
        return started.returncode, output

    def log(self) -> list[tuple[str, str]]:
        found = [line.partition(" ") for line in (self.directory / "log").read_text().splitlines()]
        return [(worker, text) for worker, _, text in found]

    def names(self) -> list[str]:
        return [text for _, text in self.log() if text.startswith("test_it")]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_each_test_runs_once_and_the_tests_of_a_file_in_one_worker_in_order(run: Run) -> None:
    for name in "abc":
        run.write(f"test_{name}.py", FOUR.replace("test_it(number", f"test_it_{name}(number, both_workers"))
    code, output = run.run()
    assert code == 0, output
    assert "12 passed" in output
    for name in "abc":
        own = [each for each in run.log() if each[1].startswith(f"test_it_{name}")]
        assert [text for _, text in own] == [f"test_it_{name}[{number}]" for number in range(4)]
        assert len({worker for worker, _ in own}) == 1
    assert {worker for worker, _ in run.log()} == {"gw0", "gw1"}


def test_fixtures_of_a_module_end_with_it_and_those_of_the_session_with_the_worker(run: Run) -> None:
    for name in "ab":
        run.write(f"test_{name}.py", "def test_it(): pass")
    code, output = run.run("--workers", "1")
    assert code == 0, output
    assert [text for _, text in run.log()] == [
        "session begins",
        "test_it",
        "test_a ends",
        "test_it",
        "test_b ends",
        "session ends",
    ]


def test_a_failure_is_reported_with_its_own_output(run: Run) -> None:
    run.write("test_a.py", "def test_it():\n    print('said', 'by a')\n    assert 1 == 2")
    run.write("test_b.py", "def test_it():\n    print('said', 'by b')\n    assert 3 == 4")
    code, output = run.run()
    assert code == 1
    assert "2 failed" in output
    for name, text in (("a", "assert 1 == 2"), ("b", "assert 3 == 4")):
        section = output.split("FAILURES")[1].split(f"test_{name}.py:")[0].rpartition("_ test_it _")[2]
        assert text in section
    assert output.count("said by a") == output.count("said by b") == 1


def test_a_worker_that_is_killed_fails_its_test_and_the_others_still_run(run: Run) -> None:
    kill = "import os, signal\n    if number == 1: os.kill(os.getpid(), signal.SIGKILL)"
    run.write("test_a.py", FOUR.replace("pass", f"\n    {kill}"))
    run.write("test_b.py", FOUR)
    code, output = run.run()
    assert code == 1
    assert "1 failed, 7 passed" in output
    assert re.search(
        r"FAILED test_a.py::test_it\[1\] - worker gw. ended unexpectedly with signal SIGKILL", output
    )
    assert len(run.names()) == 8


def test_an_error_at_the_end_of_the_session_fails_the_run(run: Run) -> None:
    run.write("conftest.py", CONFTEST.replace('note("session ends")', "assert 'end' == 'clean'"))
    run.write("test_a.py", "def test_it(): pass")
    code, output = run.run()
    assert code == 1
    assert "assert 'end' == 'clean'" in output


def test_the_first_failure_can_end_the_run(run: Run) -> None:
    run.write("test_a.py", FOUR.replace("pass", "assert number != 1"))
    code, output = run.run("-x")
    assert code == 1
    assert "stopping after 1 failures" in output
    assert len(run.names()) == 2
    assert run.log()[-1][1] == "session ends"


def test_an_error_of_the_collection_runs_no_test(run: Run) -> None:
    run.write("test_a.py", "import nothing_of_this_name")
    run.write("test_b.py", FOUR)
    code, output = run.run()
    assert code == pytest.ExitCode.INTERRUPTED
    assert "1 error during collection" in output
    assert not (run.directory / "log").exists()


def test_workers_have_directories_of_their_own(run: Run) -> None:
    for name in "ab":
        run.write(f"test_{name}.py", "def test_it(tmp_path, both_workers): (tmp_path / 'file').touch()")
    code, output = run.run()
    assert code == 0, output
    assert {path.parent.parent.name for path in run.directory.glob("temporary/*/test_it0/file")} == {
        "gw0",
        "gw1",
    }


def test_what_a_worker_puts_out_reaches_the_main_process(run: Run) -> None:
    hooks = """
def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["name"] = os.environ["STEWARD_TEST_WORKER"]

def pytest_worker_ended(output):
    note(f"output of {output['name']}")
"""
    run.write("conftest.py", CONFTEST + hooks)
    for name in "ab":
        run.write(f"test_{name}.py", "def test_it(): pass")
    code, output = run.run()
    assert code == 0, output
    assert {("None", "output of gw0"), ("None", "output of gw1")} <= set(run.log())


def test_an_interrupted_run_ends_its_fixtures(run: Run) -> None:
    run.write("test_a.py", "import time\ndef test_it(): time.sleep(1000)")
    run.write("test_b.py", "import time\ndef test_it(): time.sleep(1000)")
    with run.start("--workers", "2") as started:
        deadline = time.monotonic() + 60
        while not (run.directory / "log").exists() or len(run.names()) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=120)
    assert started.returncode == pytest.ExitCode.INTERRUPTED
    assert sorted(worker for worker, text in run.log() if text == "session ends") == ["gw0", "gw1"]
