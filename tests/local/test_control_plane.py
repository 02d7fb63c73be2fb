"""Starting, stopping and healing, with the real components."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from steward.local import control_plane, ports
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed, NotRunning, PortTaken
from steward.local.processes import Lifetime
from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import Share, Silent
from steward.local.settings import COMPONENTS, ControlPlaneSettings, Layout
from tests.local.support.cluster_access import Cluster

CONFIG_MAP = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def settings(tmp_path: Path) -> AsyncIterator[ControlPlaneSettings]:
    settings = ControlPlaneSettings(tmp_path / "cluster", lifetime=Lifetime.PARENT)
    yield settings
    await control_plane.stop(settings.directory)


def processes_of(directory: Path) -> set[int]:
    """Every process on this machine that has the directory on its command line."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if str(directory).encode() in command:
            found.add(int(place.name))
    return found


def pids(directory: Path) -> dict[str, int]:
    services = Layout(directory).services()
    return {each.name: json.loads(each.pidfile.read_text())["pid"] for each in services}


async def start(settings: ControlPlaneSettings) -> ControlPlane:
    return await control_plane.start(settings, Silent())


async def test_a_cluster_keeps_its_data_and_address_through_stop_crash_and_half_a_start(
    settings: ControlPlaneSettings,
) -> None:
    plane = await start(settings)
    cluster = Cluster(plane)
    await cluster.create(CONFIG_MAP, {"metadata": {"name": "kept"}, "data": {"a": "1"}})
    kubeconfig = plane.kubeconfig.read_text()

    first = pids(settings.directory)
    assert await start(settings) == plane
    assert pids(settings.directory) == first, "a healthy control plane is left alone"

    await control_plane.stop(settings.directory)
    assert processes_of(settings.directory) == set()
    assert await start(settings) == plane
    assert (await cluster.get(f"{CONFIG_MAP}/kept"))["data"] == {"a": "1"}

    crashed = pids(settings.directory)
    for name in ("etcd", "kube-scheduler"):
        os.kill(crashed[name], signal.SIGKILL)
    assert await start(settings) == plane
    assert set(pids(settings.directory).values()) == processes_of(settings.directory)
    assert (await cluster.get(f"{CONFIG_MAP}/kept"))["data"] == {"a": "1"}
    assert plane.kubeconfig.read_text() == kubeconfig


async def test_other_nodes_are_added_and_removed_without_a_restart(settings: ControlPlaneSettings) -> None:
    plane = await start(dataclasses.replace(settings, nodes=2, zones=("a", "b")))
    before = pids(settings.directory)
    for count in (4, 1):
        await start(dataclasses.replace(settings, nodes=count, zones=("a", "b")))
        nodes = (await Cluster(plane).get("/api/v1/nodes"))["items"]
        assert len(nodes) == count
    assert pids(settings.directory) == before
    assert control_plane.topology(settings.directory).nodes == 1


class CancelsAt:
    """Progress that cancels the work when it comes to an activity."""

    def __init__(self, activity: str) -> None:
        self._activity = activity
        self.work: asyncio.Task[ControlPlane] | None = None

    def report(self, activity: str, share: Share | None = None) -> None:
        if activity.startswith(self._activity) and self.work is not None:
            self.work.cancel()


@pytest.mark.parametrize("activity", ["starting etcd", "starting kube-apiserver", "waiting for nodes"])
async def test_an_interrupted_start_leaves_no_process_behind(
    settings: ControlPlaneSettings, activity: str
) -> None:
    progress = CancelsAt(activity)
    progress.work = asyncio.create_task(control_plane.start(settings, progress))
    with pytest.raises(asyncio.CancelledError):
        await progress.work
    assert processes_of(settings.directory) == set()
    assert control_plane.is_down(settings.directory)


async def test_stale_pid_files_of_strangers_do_no_harm(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.processes.mkdir()
    with subprocess.Popen(["/bin/sleep", "600"]) as stranger:
        for service in layout.services():
            service.pidfile.write_text(json.dumps({"pid": stranger.pid, "started": 7, "boot": "before"}))
        await control_plane.stop(tmp_path)
        assert stranger.poll() is None
        stranger.kill()
    assert control_plane.is_down(tmp_path)


async def test_a_port_that_is_taken_between_choice_and_start_is_replaced(
    settings: ControlPlaneSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        chosen: list[dict[str, int]] = []
        choose = ports.choose

        def lose_the_first_races(before: ports.Ports, asked: int | None) -> dict[str, int]:
            chosen.append(choose(before, asked) | ({"etcd": taken} if len(chosen) < 2 else {}))
            return chosen[-1]

        monkeypatch.setattr(ports, "choose", lose_the_first_races)
        await start(settings)
    assert [choice["etcd"] == taken for choice in chosen] == [True, True, False]


async def test_a_port_that_was_asked_for_and_is_taken_is_refused(settings: ControlPlaneSettings) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        with pytest.raises(PortTaken, match=f"Port {taken} "):
            await start(dataclasses.replace(settings, port=taken))
    assert processes_of(settings.directory) == set()


async def test_a_component_that_dies_is_named_with_its_last_words(
    settings: ControlPlaneSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dying = tmp_path / "kube-apiserver"
    dying.write_text("#!/bin/sh\necho invalid argument, of all things\nexit 1\n")
    dying.chmod(0o755)
    executables = await binaries.ensure(PROGRAMS.values(), Silent())

    async def ensure(*_: object) -> dict[str, Path]:
        return executables | {"kube-apiserver": dying}

    monkeypatch.setattr(binaries, "ensure", ensure)
    with pytest.raises(ComponentFailed, match=r"(?s)kube-apiserver ended while it started.*of all things"):
        await start(settings)
    assert processes_of(settings.directory) == set()


@pytest.fixture
async def pretended(tmp_path: Path) -> AsyncIterator[Layout]:
    """All five components, played by a shell that writes down when it is asked to end."""
    layout = Layout(tmp_path)
    layout.processes.mkdir()
    for service in layout.services():
        script = f"trap 'echo {service.name} >> {tmp_path}/order; exit' TERM; echo up; while :; do sleep 0.05; done"
        service.start(["/bin/sh", "-c", script], Lifetime.PARENT)
    async with asyncio.timeout(120):
        while not all(service.log_tail() == "up" for service in layout.services()):
            await asyncio.sleep(0.01)
    yield layout
    await control_plane.stop(tmp_path)


async def test_components_stop_one_by_one_and_etcd_last(pretended: Layout) -> None:
    await control_plane.stop(pretended.directory)
    assert tuple((pretended.directory / "order").read_text().split()) == tuple(reversed(COMPONENTS))


async def test_the_end_by_somebody_elses_hand_is_no_failure(pretended: Layout) -> None:
    waiting = asyncio.create_task(control_plane.wait_for_end(pretended.directory))
    await control_plane.stop(pretended.directory)
    assert await waiting is None


async def test_the_end_of_a_component_by_itself_is_noticed(pretended: Layout) -> None:
    waiting = asyncio.create_task(control_plane.wait_for_end(pretended.directory))
    os.kill(pids(pretended.directory)["kube-scheduler"], signal.SIGKILL)
    dead = await waiting
    assert dead is not None
    assert dead.name == "kube-scheduler"


def test_a_directory_without_a_cluster_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(NotRunning, match="start it with `steward up --detach`"):
        control_plane.find(tmp_path)


async def test_purge_removes_what_is_ours_and_nothing_else(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    for directory in (layout.processes, layout.data, layout.config, layout.certificates):
        directory.mkdir()
    layout.audit_log.write_text("{}")
    layout.kubeconfig.write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    await control_plane.purge(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


async def test_purge_of_nothing_is_nothing(tmp_path: Path) -> None:
    await control_plane.purge(tmp_path / "never")
    assert not (tmp_path / "never").exists()


async def test_the_audit_log_names_every_caller(request: pytest.FixtureRequest, namespace: str) -> None:
    plane: ControlPlane = request.getfixturevalue("control_plane")
    calls = [json.loads(line) for line in plane.audit_log.read_text().splitlines()]
    ours = [call for call in calls if call["userAgent"] == "steward-tests"]
    assert any(call["verb"] == "create" and call["objectRef"]["name"] == namespace for call in ours)
