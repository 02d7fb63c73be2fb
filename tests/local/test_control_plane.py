"""Start, stop and repair of a control plane, with the real components.

The first three tests use one control plane: each finds it running, as the one before it leaves it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from steward.local import control_plane, ports
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed, NotRunning, PortTaken
from steward.local.processes import Lifetime
from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import ProgressCount, SilentProgress
from steward.local.settings import COMPONENTS, ControlPlaneSettings, Layout
from tests.local.support.cluster_access import Cluster
from tests.local.support.processes import processes_using

pytestmark = pytest.mark.needs_server

CONFIG_MAP = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def settings(tmp_path: Path) -> AsyncIterator[ControlPlaneSettings]:
    settings = ControlPlaneSettings(tmp_path / "cluster", lifetime=Lifetime.PARENT)
    yield settings
    await control_plane.stop(settings.directory)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlaneSettings]:
    settings = ControlPlaneSettings(tmp_path_factory.mktemp("shared") / "cluster", lifetime=Lifetime.PARENT)
    yield settings
    # A separate event loop: asyncio.run would replace the one that pytest-asyncio has set.
    loop = asyncio.new_event_loop()
    loop.run_until_complete(control_plane.stop(settings.directory))
    loop.close()


def pids(directory: Path) -> dict[str, int]:
    services = Layout(directory).component_services()
    return {service.name: json.loads(service.pidfile.read_text())["pid"] for service in services}


async def start(settings: ControlPlaneSettings) -> ControlPlane:
    return await control_plane.start(settings, SilentProgress())


async def test_a_port_that_is_taken_between_choice_and_start_is_replaced(
    shared: ControlPlaneSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        chosen: list[dict[str, int]] = []
        choose = ports.choose_ports

        def take_the_port_twice(
            previous: ports.Ports, requested: int | None, listeners: tuple[str, ...]
        ) -> dict[str, int]:
            taken_port = {"etcd": taken} if len(chosen) < 2 else {}
            chosen.append(choose(previous, requested, listeners) | taken_port)
            return chosen[-1]

        monkeypatch.setattr(ports, "choose_ports", take_the_port_twice)
        await start(shared)
    assert [choice["etcd"] == taken for choice in chosen] == [True, True, False]


async def test_a_cluster_keeps_its_data_and_address_over_stops_and_crashes(
    shared: ControlPlaneSettings,
) -> None:
    plane = await start(shared)
    cluster = Cluster(plane)
    await cluster.create(CONFIG_MAP, {"metadata": {"name": "kept"}, "data": {"a": "1"}})
    kubeconfig = plane.kubeconfig.read_text()

    first = pids(shared.directory)
    assert await start(shared) == plane
    assert pids(shared.directory) == first, "a healthy control plane is not restarted"

    await control_plane.stop(shared.directory)
    assert processes_using(shared.directory) == set()
    assert await start(shared) == plane
    assert (await cluster.get(f"{CONFIG_MAP}/kept"))["data"] == {"a": "1"}

    crashed = pids(shared.directory)
    for name in ("etcd", "kube-scheduler"):
        os.kill(crashed[name], signal.SIGKILL)
    assert await start(shared) == plane
    assert set(pids(shared.directory).values()) == processes_using(shared.directory)
    assert (await cluster.get(f"{CONFIG_MAP}/kept"))["data"] == {"a": "1"}
    assert plane.kubeconfig.read_text() == kubeconfig


async def test_nodes_are_added_and_removed_without_a_restart(shared: ControlPlaneSettings) -> None:
    plane = await start(dataclasses.replace(shared, nodes=2, zones=("a", "b")))
    before = pids(shared.directory)
    for count in (4, 1):
        await start(dataclasses.replace(shared, nodes=count, zones=("a", "b")))
        nodes = (await Cluster(plane).get("/api/v1/nodes"))["items"]
        assert len(nodes) == count
    assert pids(shared.directory) == before
    assert control_plane.previous_state(shared.directory).topology.nodes == 1


class CancelsAt:
    """Progress that cancels the start when it reports an activity."""

    def __init__(self, activity: str) -> None:
        self._activity = activity
        self.work: asyncio.Task[ControlPlane] | None = None

    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        if activity.startswith(self._activity) and self.work is not None:
            self.work.cancel()


@pytest.mark.parametrize("activity", ["starting etcd", "starting kube-apiserver", "waiting for nodes"])
async def test_an_interrupted_start_leaves_no_process_running(
    settings: ControlPlaneSettings, activity: str
) -> None:
    progress = CancelsAt(activity)
    progress.work = asyncio.create_task(control_plane.start(settings, progress))
    with pytest.raises(asyncio.CancelledError):
        await progress.work
    assert processes_using(settings.directory) == set()
    assert control_plane.is_down(settings.directory)


async def test_stale_pid_files_never_stop_foreign_processes(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.processes.mkdir()
    with subprocess.Popen(["/bin/sleep", "600"]) as foreign:
        for service in layout.component_services():
            service.pidfile.write_text(json.dumps({"pid": foreign.pid, "started": 7, "boot": "before"}))
        await control_plane.stop(tmp_path)
        assert foreign.poll() is None
        foreign.kill()
    assert control_plane.is_down(tmp_path)


async def test_a_requested_port_that_is_taken_is_an_error(settings: ControlPlaneSettings) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {taken} "):
            await start(dataclasses.replace(settings, port=taken))
    assert processes_using(settings.directory) == set()


async def test_a_component_that_dies_is_named_with_the_end_of_its_log(
    settings: ControlPlaneSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dying = tmp_path / "kube-apiserver"
    dying.write_text("#!/bin/sh\necho invalid argument, of all things\nexit 1\n")
    dying.chmod(0o755)
    executables = await binaries.ensure(PROGRAMS.values(), SilentProgress())

    async def ensure(*_: object) -> dict[str, Path]:
        return executables | {"kube-apiserver": dying}

    monkeypatch.setattr(binaries, "ensure", ensure)
    with pytest.raises(ComponentFailed, match=r"(?s)kube-apiserver ended while it started.*of all things"):
        await start(settings)
    assert processes_using(settings.directory) == set()


@pytest.fixture
async def fake_components(tmp_path: Path) -> AsyncIterator[Layout]:
    """Shell scripts in place of the components, which log the order of their termination."""
    layout = Layout(tmp_path)
    layout.processes.mkdir()
    for service in layout.component_services():
        script = f"trap 'echo {service.name} >> {tmp_path}/order; exit' TERM; echo up; while :; do sleep 0.05; done"
        service.start(["/bin/sh", "-c", script], Lifetime.PARENT)
    async with asyncio.timeout(120):
        while not all(service.log_tail() == "up" for service in layout.component_services()):
            await asyncio.sleep(0.01)
    yield layout
    await control_plane.stop(tmp_path)


async def test_components_stop_one_by_one_and_etcd_last(fake_components: Layout) -> None:
    await control_plane.stop(fake_components.directory)
    assert tuple((fake_components.directory / "order").read_text().split()) == tuple(reversed(COMPONENTS))


async def test_a_stop_by_another_process_is_no_failure(fake_components: Layout) -> None:
    waiting = asyncio.create_task(control_plane.wait_for_end(fake_components.directory))
    await control_plane.stop(fake_components.directory)
    assert await waiting is None


async def test_the_death_of_a_component_is_noticed(fake_components: Layout) -> None:
    waiting = asyncio.create_task(control_plane.wait_for_end(fake_components.directory))
    os.kill(pids(fake_components.directory)["kube-scheduler"], signal.SIGKILL)
    dead = await waiting
    assert dead is not None
    assert dead.name == "kube-scheduler"


def test_without_a_cluster_the_error_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="start it with `steward up --detach`"):
        control_plane.find(tmp_path)


async def test_purge_deletes_only_files_of_steward(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    for directory in (layout.processes, layout.data, layout.config, layout.certificates):
        directory.mkdir()
    layout.audit_log.write_text("{}")
    layout.kubeconfig.write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    await control_plane.purge(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


async def test_purge_of_a_missing_directory_does_nothing(tmp_path: Path) -> None:
    await control_plane.purge(tmp_path / "never")
    assert not (tmp_path / "never").exists()


async def test_the_audit_log_names_every_caller(request: pytest.FixtureRequest, namespace: str) -> None:
    plane: ControlPlane = request.getfixturevalue("control_plane")
    with plane.audit_log.open() as log:
        # Late in a run, decoding all lines would take seconds.
        calls = [json.loads(line) for line in log if namespace in line]
    ours = [call for call in calls if call["userAgent"] == "steward-tests"]
    assert any(call["verb"] == "create" and call["objectRef"].get("name") == namespace for call in ours)
