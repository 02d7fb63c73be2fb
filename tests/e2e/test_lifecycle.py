"""Start, stop and crash of a cluster with containers: what stays in it, and that nothing stays on the machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.cli.support.shell import read_until
from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.machine_state import State, differences, read_state, run_iptables
from tests.e2e.support.waiting import eventually

SECOND_START_SECONDS = 30.0


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[ContainerCluster]:
    """A cluster that a test starts itself."""
    cluster = ContainerCluster(tmp_path / "cluster")
    yield cluster
    cluster.down("--purge")


def kill_everything(cluster: ContainerCluster) -> None:
    """kill -9 of every process that has a pid file; containers and their shims stay."""
    for pidfile in (cluster.directory / "processes").glob("*.pid"):
        os.kill(json.loads(pidfile.read_text())["pid"], signal.SIGKILL)


async def wait_until_clean(before: State, directory: Path) -> None:
    """The kernel removes network namespaces a little later than their processes."""
    after = await read_state(directory)
    for _ in range(100):
        if not differences(before, after):
            return
        after = await read_state(directory)
    assert differences(before, after) == {}


def has_shim() -> bool:
    found = subprocess.run(
        ["pgrep", "-f", "containerd-shim.*steward-local"], capture_output=True, check=False, timeout=300
    )
    return found.returncode == 0


async def test_a_cluster_comes_back_with_its_pods_and_leaves_nothing(stopped: ContainerCluster) -> None:
    before = await read_state(stopped.directory)
    stopped.up("--bare")
    stopped.start_pod("default", "kept")
    first = stopped.wait_until_ready("default", "kept")
    stopped.down()
    await wait_until_clean(before, stopped.directory)

    assert stopped.up("--bare") < SECOND_START_SECONDS
    again = eventually(lambda: restarted(stopped, first), "the pod runs again")
    assert again["metadata"]["uid"] == first["metadata"]["uid"]
    stopped.down("--purge")
    await wait_until_clean(before, stopped.directory)
    assert not stopped.directory.exists()


def restarted(cluster: ContainerCluster, first: dict[str, object]) -> dict[str, dict[str, str]] | None:
    pod = cluster.wait_until_ready("default", "kept")
    restarts = pod["status"]["containerStatuses"][0]["restartCount"]
    return pod if restarts > 0 else None


@pytest.mark.parametrize("cure", ["down", "up"])
async def test_after_kill_9_of_everything_nothing_stays(stopped: ContainerCluster, cure: str) -> None:
    before = await read_state(stopped.directory)
    stopped.up("--bare")
    stopped.start_pod("default", "orphan")
    stopped.wait_until_ready("default", "orphan")
    kill_everything(stopped)
    assert has_shim(), "the container outlives its kubelet"
    if cure == "up":
        stopped.up("--bare")
        stopped.wait_until_ready("default", "orphan")
    stopped.down()
    await wait_until_clean(before, stopped.directory)


FOREIGN_RULES = (
    ("-N", "FOREIGN"),
    ("-A", "FOREIGN", "-s", "203.0.113.0/24", "-j", "DROP"),
    ("-I", "FORWARD", "-m", "comment", "--comment", "not of Steward", "-j", "FOREIGN"),
)


@pytest.fixture
async def foreign_rules() -> AsyncIterator[None]:
    for rule in FOREIGN_RULES:
        await run_iptables(*rule)
    yield
    await run_iptables("-D", *FOREIGN_RULES[2][1:])
    await run_iptables("-F", "FOREIGN")
    await run_iptables("-X", "FOREIGN")


@pytest.mark.usefixtures("foreign_rules")
async def test_rules_of_others_stay(stopped: ContainerCluster) -> None:
    before = await read_state(stopped.directory)
    assert "FOREIGN" in str(before["rules"])
    stopped.up("--bare")
    stopped.down()
    await wait_until_clean(before, stopped.directory)


async def test_chains_of_another_kubernetes_are_refused_and_left_alone(stopped: ContainerCluster) -> None:
    await run_iptables("-N", "KUBE-FOREIGN")
    try:
        before = await read_state(stopped.directory)
        refused = stopped.shell.run("up", "--containers", "--bare", "--detach")
        assert refused.returncode == 1
        assert "chains of another Kubernetes (KUBE-FOREIGN" in refused.stderr
        assert differences(before, await read_state(stopped.directory)) == {}
    finally:
        await run_iptables("-X", "KUBE-FOREIGN")


async def test_ctrl_c_in_the_foreground_leaves_nothing(stopped: ContainerCluster) -> None:
    before = await read_state(stopped.directory)
    with stopped.shell.start("up", "--containers", "--bare") as up:
        printed = read_until(up, "Ctrl-C stops it")
        assert "STEWARD-LOCAL" in printed, "the list of what is made on the machine"
        stopped.start_pod("default", "running")
        stopped.wait_until_ready("default", "running")
        up.send_signal(signal.SIGINT)
        up.wait(timeout=300)
    await wait_until_clean(before, stopped.directory)


def test_a_second_cluster_on_the_machine_is_refused(stopped: ContainerCluster, tmp_path: Path) -> None:
    stopped.up("--bare")
    other = ContainerCluster(tmp_path / "other")
    refused = other.shell.run("up", "--containers", "--bare", "--detach")
    assert refused.returncode == 1
    assert f"stop it with `steward down --dir {stopped.directory}`" in refused.stderr
    assert other.shell.run("down", "--purge").returncode == 0
    assert stopped.kubectl.json("get", "nodes")["items"]


def test_zones_can_be_added_to_a_cluster(stopped: ContainerCluster) -> None:
    stopped.up("--bare")
    stopped.up("--bare", "--zones", "z1,z2")
    nodes = stopped.kubectl.json("get", "nodes")["items"]
    assert [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes] == ["z1", "z2"]


def test_a_directory_keeps_its_mode(stopped: ContainerCluster, tmp_path: Path) -> None:
    stopped.up("--bare")
    stopped.down()
    assert stopped.shell.run("up", "--bare", "--detach").returncode == 0
    [node] = stopped.kubectl.json("get", "nodes")["items"]
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://")
