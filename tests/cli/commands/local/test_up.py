"""`up`, `down` and `kubectl` with a real control plane."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.cli.main import ExitCode
from tests.cli.support.shell import Shell, read_until
from tests.local.support.processes import processes_using

pytestmark = pytest.mark.needs_server


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path / "cluster")
    yield shell
    if shell.directory.exists():
        shell.run("down", "--purge")


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The directory of the cluster that the next three tests use one after the other."""
    shell = Shell(tmp_path_factory.mktemp("used") / "cluster")
    yield shell
    shell.run("down", "--purge")


def test_up_detached_then_kubectl(used: Shell) -> None:
    up = used.run("up", "--bare", "--detach", "--nodes", "2", "--zones", "a,b")
    assert up.returncode == ExitCode.DONE, up.stderr
    assert "is ready at https://127.0.0.1:" in up.stdout
    assert "starting etcd" in up.stderr

    made = used.run("kubectl", "run", "kept", "--image=busybox", "--", "sh", "-c", "echo hello")
    assert made.returncode == 0, made.stderr
    arguments = used.run("kubectl", "get", "pod", "kept", "-o", "jsonpath={.spec.containers[0].args}")
    assert arguments.stdout == '["sh","-c","echo hello"]'
    assert used.run("kubectl", "get", "pod", "none").returncode == 1


def test_ctrl_c_of_an_up_in_the_foreground_stops_everything(used: Shell) -> None:
    with used.start("up", "--bare") as up:
        read_until(up, "Ctrl-C stops it")
        assert len(processes_using(used.directory)) >= 5
        up.send_signal(signal.SIGINT)
        assert up.wait(timeout=120) == ExitCode.INTERRUPTED
    assert processes_using(used.directory) == set()


def test_the_same_cluster_again_in_the_foreground_until_down_ends_it(used: Shell) -> None:
    with used.start("up", "--bare") as again:
        assert "2 in a, b" in read_until(again, "Ctrl-C stops it")
        assert used.run("kubectl", "get", "pod", "kept", "-o", "name").stdout == "pod/kept\n"
        assert used.run("down").stdout == f"Stopped the control plane in {used.directory}.\n"
        read_until(again, "stopped by `steward down`")
        assert again.wait(timeout=120) == ExitCode.DONE
    assert processes_using(used.directory) == set()


@pytest.mark.parametrize(
    "mode", [["up", "--bare"], ["up", "--bare", "--detach"]], ids=["foreground", "detached"]
)
def test_ctrl_c_during_the_start_leaves_no_process_behind(shell: Shell, mode: list[str]) -> None:
    with shell.start(*mode) as up:
        read_until(up, "starting kube-apiserver")
        up.send_signal(signal.SIGINT)
        up.send_signal(signal.SIGINT)
        assert up.wait(timeout=120) == ExitCode.INTERRUPTED
    assert processes_using(shell.directory) == set()


def test_a_port_in_use_is_reported_in_one_sentence(shell: Shell) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = shell.run("up", "--bare", "--port", str(port))
    assert done.returncode == ExitCode.FAILED
    assert done.stderr.startswith(f"Error: Port {port} of this machine is in use")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--zones", " , "], ["--nodes", "0"], ["--nodes", "many"], ["--port", "70000"], ["--fast"]]
)
def test_wrong_usage(shell: Shell, arguments: list[str]) -> None:
    done = shell.run("up", *arguments)
    assert done.returncode == ExitCode.USAGE
    assert not shell.directory.exists()


def test_a_directory_that_cannot_be_created_is_one_sentence(shell: Shell) -> None:
    shell.directory.write_text("a file is in the way")
    done = shell.run("up", "--dir", str(shell.directory / "below"))
    assert done.returncode == ExitCode.FAILED
    assert "Not a directory" in done.stderr
    assert "Traceback" not in done.stderr
    shell.directory.unlink()


def test_kubectl_without_a_cluster_says_how_to_start_one(shell: Shell) -> None:
    done = shell.run("kubectl", "get", "pods")
    assert done.returncode == ExitCode.FAILED
    assert "start it with `steward up --detach`" in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["version", "--client"], []])
def test_kubectl_help_needs_no_cluster(shell: Shell, arguments: list[str]) -> None:
    done = shell.run("kubectl", *arguments)
    assert done.returncode == 0
    assert "steward" not in done.stdout


def test_down_where_nothing_runs(shell: Shell) -> None:
    done = shell.run("down")
    assert done.returncode == ExitCode.DONE
    assert done.stdout == f"Nothing was running in {shell.directory}.\n"
