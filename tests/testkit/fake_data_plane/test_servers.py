"""Real etcds that come and go with the TopoServers that want them."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError, Unreachable
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key
from steward.local.processes import Service
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import Silent
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit import FakeClock
from steward.testkit.fake_data_plane.faults import Misbehaviour
from steward.testkit.fake_data_plane.servers import RESTART_SECONDS, ServerWish, TopologyServers

KEY = Key("shop", "mini-global-topo")
WISH = ServerWish(KEY, "uid-1", has_quorum=True)
SILENT = WISH._replace(wrong=frozenset({Misbehaviour.SILENT_ETCD}))
DEAD = WISH._replace(wrong=frozenset({Misbehaviour.DEAD_ETCD}))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def servers(tmp_path: Path, clock: FakeClock) -> AsyncIterator[TopologyServers]:
    found = await binaries.ensure([CONTROL_PLANE], Silent())
    servers = TopologyServers(found["etcd"], tmp_path, clock)
    yield servers
    await servers.stop()


def client(servers: TopologyServers, seconds: float = 5.0) -> EtcdClient:
    """By the address inside the cluster, as an operator would ask."""
    redirect = Redirect((ForwardFile(servers.forwards_file),))
    return EtcdClient(Endpoints(("mini-global-topo.shop.svc:2379",), None, redirect, seconds))


async def answered(servers: TopologyServers, key: str = "/a") -> bytes | None:
    """Waits until the server answers; the test's own time limit ends the wait."""
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
    await servers.keep([WISH._replace(has_quorum=False)])
    assert servers.of(KEY) is None
    await servers.keep([WISH])
    assert await answered(servers) is None


async def test_what_it_held_survives_its_death_and_its_return(servers: TopologyServers) -> None:
    await servers.keep([WISH])
    await answered(servers)
    async with client(servers) as etcd:
        await etcd.put("/a", b"kept", 0)
    await servers.keep([DEAD])
    async with client(servers) as etcd:
        with pytest.raises(Unreachable, match="Cannot connect"):
            await etcd.get("/a")
    await servers.keep([WISH])
    assert await answered(servers) == b"kept"


async def test_one_that_died_by_itself_is_started_again(
    servers: TopologyServers, tmp_path: Path, clock: FakeClock
) -> None:
    await servers.keep([WISH])
    await answered(servers)
    process = servers.of(KEY)
    assert process is not None
    Service("etcd", tmp_path / "etcd" / WISH.uid).send(signal.SIGKILL)
    await until(lambda: not process.is_running())
    await servers.keep([WISH])
    assert not process.is_running(), "one that dies at once must not be started in a circle"
    clock.advance(RESTART_SECONDS)
    await servers.keep([WISH])
    assert await answered(servers) is None


async def test_a_silent_one_accepts_and_never_answers_until_it_wakes(servers: TopologyServers) -> None:
    await servers.keep([WISH])
    await answered(servers)
    await servers.keep([SILENT])
    async with client(servers, seconds=0.1) as etcd:
        with pytest.raises(Unreachable, match="no answer within"):
            await etcd.get("/a")
    await servers.keep([WISH])
    assert await answered(servers) is None


async def test_what_goes_leaves_neither_process_nor_data_nor_forward(
    servers: TopologyServers, tmp_path: Path
) -> None:
    await servers.keep([SILENT])
    process = servers.of(KEY)
    assert process is not None
    await servers.keep([])
    assert not process.is_running()
    assert list((tmp_path / "etcd").glob("*")) == []
    assert servers.forwards_file.read_text() == ""


async def test_data_of_servers_that_went_while_nobody_looked_is_removed(
    servers: TopologyServers, tmp_path: Path
) -> None:
    for uid in ("uid-1", "uid-2"):
        (tmp_path / "etcd" / uid).mkdir(parents=True)
    servers.tidy({"uid-1"})
    assert [path.name for path in (tmp_path / "etcd").glob("*")] == ["uid-1"]


KEEPER = """
import asyncio, sys
from pathlib import Path
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key
from steward.testkit.fake_data_plane.servers import ServerWish, TopologyServers

async def keep():
    servers = TopologyServers(Path(sys.argv[1]), Path(sys.argv[2]), SystemClock())
    await servers.keep([ServerWish(Key("shop", "mini-global-topo"), "uid-1", True)])
    print("started", flush=True)
    await asyncio.Event().wait()

asyncio.run(keep())
"""


async def test_a_stand_in_that_is_killed_takes_its_etcds_with_it(tmp_path: Path) -> None:
    program = (await binaries.ensure([CONTROL_PLANE], Silent()))["etcd"]
    keeper = subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(program), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "started\n"
    servers = TopologyServers(program, tmp_path, SystemClock())
    await answered(servers)
    keeper.kill()
    keeper.wait()
    keeper.stdout.close()
    async with client(servers, seconds=1.0) as etcd:
        while True:
            try:
                await etcd.get("/a")
            except Unreachable:
                break
