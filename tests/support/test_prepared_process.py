"""Operators that are forks of a prepared process behave as processes of their own."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.leftover_processes import command_of
from tests.support.prepared_process import Forks, PreparedProcess
from tests.support.short_periods import periods_of, short_periods
from tests.support.waiting import poll

SECONDS = 60


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    found = Forks("tenants", [])
    yield found
    found.close()


def start(forks: Forks, log: Path, *args: str, **variables: str) -> PreparedProcess:
    with log.open("wb") as output:
        return forks.start(["steward", *args], os.environ | variables, output.fileno())


def test_the_end_and_the_output_are_those_of_the_command(forks: Forks, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert start(forks, log, "--version").wait(SECONDS) == 0
    assert log.read_text().startswith("steward ")
    assert start(forks, log, "run", "nothing").wait(SECONDS) == 2
    assert "nothing is not an operator" in log.read_text()


def test_each_fork_has_its_own_variables(forks: Forks, tmp_path: Path) -> None:
    for name in ("first", "second"):
        log, missing = tmp_path / name, str(tmp_path / f"{name}.kubeconfig")
        assert start(forks, log, "run", "tenants", KUBECONFIG=missing).wait(SECONDS) == 1
        assert f"no kubeconfig at {missing}" in log.read_text()


@pytest.fixture
def blocking(tmp_path: Path) -> str:
    """A kubeconfig whose reader waits for ever."""
    os.mkfifo(tmp_path / "kubeconfig")
    return str(tmp_path / "kubeconfig")


def test_a_signal_ends_one_fork_and_no_other(forks: Forks, tmp_path: Path, blocking: str) -> None:
    first, second = (
        start(forks, tmp_path / name, "run", "tenants", KUBECONFIG=blocking) for name in ("first", "second")
    )
    first.kill()
    assert first.wait(SECONDS) == -signal.SIGKILL
    assert second.poll() is None
    second.terminate()
    assert second.wait(SECONDS) == -signal.SIGTERM


def test_waiting_for_a_fork_that_runs_has_a_limit(forks: Forks, tmp_path: Path, blocking: str) -> None:
    process = start(forks, tmp_path / "log", "run", "tenants", KUBECONFIG=blocking)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    process.wait(SECONDS)


def parent_of(process: PreparedProcess) -> int:
    return int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_workers_share_a_prepared_process_that_ends_with_the_last_of_them(
    tmp_path: Path, blocking: str
) -> None:
    periods = ["steward.tenants.controllers.tenant.deletion:WAIT_SECONDS=2"]
    first, second = Forks("tenants", periods), Forks("tenants", periods)
    processes = [
        start(forks, tmp_path / "log", "run", "tenants", KUBECONFIG=blocking) for forks in (first, second)
    ]
    (parent,) = {parent_of(process) for process in processes}
    first.close()
    assert start(second, tmp_path / "log", "--version").wait(SECONDS) == 0
    for process in processes:
        process.kill()
        assert process.wait(SECONDS) == -signal.SIGKILL
    second.close()
    assert poll(lambda: not command_of(parent), SECONDS), "the prepared process did not end"


@pytest.mark.parametrize(
    ("launcher", "periods"),
    [
        ((), ()),
        (short_periods({"a:B": 1.5, "c:D": 2.0}), ("a:B=1.5", "c:D=2")),
        (("limit", "memory"), None),
        (("limit", "memory", *short_periods({"a:B": 1.5})), None),
    ],
)
def test_only_a_launcher_that_sets_nothing_but_periods_can_be_forked(
    launcher: tuple[str, ...], periods: tuple[str, ...] | None
) -> None:
    assert periods_of(launcher) == periods
