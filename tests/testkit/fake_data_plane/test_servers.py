"""Real etcd servers, started and stopped with their TopoServers."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError, Unreachable
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key
from steward.local.processes import Service
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import SilentProgress
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit import FakeClock
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from steward.testkit.fake_data_plane.faults import DataPlaneFault
from steward.testkit.fake_data_plane.servers import RESTART_SECONDS, DesiredServer, TopologyServers

pytestmark = pytest.mark.needs_server

KEY = Key("shop", "mini-global-topo")
SERVER = DesiredServer(KEY, "uid-1", has_quorum=True)
SILENT = SERVER._replace(faults=frozenset({DataPlaneFault.SILENT_ETCD}))
DEAD = SERVER._replace(faults=frozenset({DataPlaneFault.DEAD_ETCD}))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def servers(tmp_path: Path, clock: FakeClock) -> AsyncIterator[TopologyServers]:
    found = await binaries.ensure([CONTROL_PLANE], SilentProgress())
    servers = TopologyServers(partial(EtcdProcess, found["etcd"]), tmp_path, clock)
    yield servers
    await servers.stop()


def client(servers: TopologyServers, seconds: float = 5.0) -> EtcdClient:
    """A client that uses the address inside the cluster, as the operator does."""
    redirect = Redirect((ForwardFile(servers.forwards_file),))
    return EtcdClient(Endpoints(("mini-global-topo.shop.svc:2379",), None, redirect, seconds))


async def read_key(servers: TopologyServers, key: str = "/a") -> bytes | None:
    """Wait until the server answers, and return the value; the test's time limit ends the wait."""
    while True:
        try:
            async with client(servers) as etcd:
                found = await etcd.get(key)
                return None if found is None else found.value
        except EtcdError:
            await asyncio.sleep(0.02)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.02)


async def test_a_server_with_a_quorum_answers_at_its_address_in_the_cluster(servers: TopologyServers) -> None:
    await servers.reconcile([SERVER._replace(has_quorum=False)])
    assert servers.find_process(KEY) is None
    await servers.reconcile([SERVER])
    assert await read_key(servers) is None


async def test_a_server_that_has_not_started_yet_refuses_connections(servers: TopologyServers) -> None:
    await servers.reconcile([SERVER._replace(has_quorum=False)])
    async with client(servers) as etcd:
        with pytest.raises(Unreachable, match=r"Connect call failed \('127\.0\.0\.1'"):
            await etcd.get("/a")


async def test_data_survives_a_stop_and_a_restart(servers: TopologyServers) -> None:
    await servers.reconcile([SERVER])
    await read_key(servers)
    async with client(servers) as etcd:
        await etcd.write("/a", b"kept", 0)
    await servers.reconcile([DEAD])
    async with client(servers) as etcd:
        with pytest.raises(Unreachable, match="Cannot connect"):
            await etcd.get("/a")
    await servers.reconcile([SERVER])
    assert await read_key(servers) == b"kept"


async def test_an_etcd_that_died_is_restarted(
    servers: TopologyServers, tmp_path: Path, clock: FakeClock
) -> None:
    await servers.reconcile([SERVER])
    await read_key(servers)
    process = servers.find_process(KEY)
    assert process is not None
    Service("etcd", tmp_path / "etcd" / SERVER.uid).send_signal(signal.SIGKILL)
    await until(lambda: not process.is_running())
    await servers.reconcile([SERVER])
    assert not process.is_running(), "it must not be restarted in a tight loop"
    clock.advance(RESTART_SECONDS)
    await servers.reconcile([SERVER])
    assert await read_key(servers) is None


async def test_a_paused_etcd_accepts_connections_and_answers_after_it_is_resumed(
    servers: TopologyServers,
) -> None:
    await servers.reconcile([SERVER])
    await read_key(servers)
    await servers.reconcile([SILENT])
    async with client(servers, seconds=0.1) as etcd:
        with pytest.raises(Unreachable, match="no answer within"):
            await etcd.get("/a")
    await servers.reconcile([SERVER])
    assert await read_key(servers) is None


async def test_a_deleted_server_leaves_no_process_data_or_forward(
    servers: TopologyServers, tmp_path: Path
) -> None:
    await servers.reconcile([SILENT])
    process = servers.find_process(KEY)
    assert process is not None
    await servers.reconcile([])
    assert not process.is_running()
    assert list((tmp_path / "etcd").glob("*")) == []
    assert servers.forwards_file.read_text() == ""


async def test_data_of_servers_deleted_in_the_meantime_is_removed(
    servers: TopologyServers, tmp_path: Path
) -> None:
    for uid in ("uid-1", "uid-2"):
        (tmp_path / "etcd" / uid).mkdir(parents=True)
    servers.remove_stale_data({"uid-1"})
    assert [path.name for path in (tmp_path / "etcd").glob("*")] == ["uid-1"]


RUNNER = """
import asyncio, functools, sys
from pathlib import Path
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from steward.testkit.fake_data_plane.servers import DesiredServer, TopologyServers

async def run():
    servers = TopologyServers(functools.partial(EtcdProcess, Path(sys.argv[1])), Path(sys.argv[2]), SystemClock())
    await servers.reconcile([DesiredServer(Key("shop", "mini-global-topo"), "uid-1", True)])
    print("started", flush=True)
    await asyncio.Event().wait()

asyncio.run(run())
"""


async def test_the_etcd_servers_of_a_killed_process_end_with_it(tmp_path: Path) -> None:
    program = (await binaries.ensure([CONTROL_PLANE], SilentProgress()))["etcd"]
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(program), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert runner.stdout is not None
    assert runner.stdout.readline() == "started\n"
    servers = TopologyServers(partial(EtcdProcess, program), tmp_path, SystemClock())
    await read_key(servers)
    runner.kill()
    runner.wait(timeout=60)
    runner.stdout.close()
    async with client(servers, seconds=1.0) as etcd:
        while True:
            try:
                await etcd.get("/a")
            except Unreachable:
                break
