"""The fake data plane on a real control plane, without an operator: the test registers cells and databases."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.crd.schema import definition
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import POD, Key, Kind, Manifest, Ref
from steward.kube.objects.options import ApplyOptions, DeleteOptions, ListQuery
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.topology.store_records import (
    SHUTDOWN,
    CellRecord,
    PoolerRecord,
    decode_pooler,
    encode_cell,
)
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit.fake_data_plane import (
    DataPlaneFault,
    FakeDataPlane,
    FakeDataPlaneSettings,
    FaultWord,
    Timing,
)
from steward.testkit.fake_data_plane.records import Lifecycle
from tests.multigres.support.tree import build_tree

ROOT = "/multigres/global"
ADDRESS = "mini-global-topo.{}.svc:2379"
POOLS = {
    "copies": {"type": "readOnly", "replicasPerCell": 1},
    "main": {"type": "readWrite", "replicasPerCell": 1},
}
SERVERS = 4
"""Of two pools in two cells."""
SHARDS = [{"name": "0-inf", "spec": {"pools": POOLS}}]
DATABASES = [
    {
        "name": "postgres",
        "default": True,
        "tablegroups": [{"name": "default", "default": True, "shards": SHARDS}],
    }
]
SHARD = Kind("multigres.com/v1alpha1", "Shard")
TOPO_SERVER = Kind("multigres.com/v1alpha1", "TopoServer")
APPLY = ApplyOptions(manager="data-plane-test")
AT_ONCE = DeleteOptions(grace_seconds=0)
LIMIT_SECONDS = 120.0
FAST = Timing(start=0.1, stream=0.1, failover=0.2, switch=0.1)


def tree(namespace: str) -> Iterator[Manifest]:
    """A TopoServer, a Shard, and a pod of each workload: the objects that the fake data plane watches."""
    cells = [{"zone": "z1"}, {"zone": "z2"}]
    for manifest in build_tree(namespace, cells=cells, databases=DATABASES):
        # No operator runs here that would remove a finalizer.
        for field in ("ownerReferences", "finalizers"):
            manifest["metadata"].pop(field, None)
        if manifest["kind"] in ("TopoServer", "Shard"):
            if manifest["kind"] == "TopoServer":
                manifest["spec"]["replicas"] = 1
            yield manifest
        elif manifest["kind"] in ("StatefulSet", "Deployment"):
            yield pod(manifest)


def pod(workload: Manifest) -> Manifest:
    template = workload["spec"]["template"]
    containers = [
        {"name": container["name"], "image": "none", "args": container.get("args", [])}
        for container in template["spec"]["containers"]
    ]
    metadata = {
        "name": f"{workload['metadata']['name']}-0",
        "namespace": workload["metadata"]["namespace"],
        "labels": template["metadata"]["labels"],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


class RunningDataPlane:
    """A running fake data plane in a namespace, and access to its etcd."""

    def __init__(self, client: Client, namespace: str, plane: FakeDataPlane) -> None:
        self.client = client
        self.namespace = namespace
        self.plane = plane
        self.server = Key(namespace, "mini-global-topo")
        self.address = ADDRESS.format(namespace)
        self._redirect = Redirect((ForwardFile(Path(plane.connect_to[1:])),))
        self._endpoints = Endpoints((self.address,), None, self._redirect, 1.0)

    async def write(self, key: str, value: bytes) -> None:
        async def attempt() -> bool:
            async with EtcdClient(self._endpoints) as etcd:
                # A put whose answer was late has been committed: the next attempt finds the key.
                return await etcd.write(f"{ROOT}/{key}", value, 0) or f"{ROOT}/{key}" in await etcd.list(
                    f"{ROOT}/{key}"
                )

        await eventually(attempt)

    async def register(self) -> None:
        for cell in ("z1", "z2"):
            await self.write(f"cells/{cell}/Cell", encode_cell(CellRecord(cell, (self.address,), ROOT)))
        await self.write("databases/postgres/Database", b"")

    async def keys(self, prefix: str) -> dict[str, bytes]:
        async with EtcdClient(self._endpoints) as etcd:
            found = await etcd.list(f"{ROOT}/{prefix}/")
        return {key.split("/")[-2]: value.value for key, value in found.items()}

    async def poolers(self) -> dict[str, PoolerRecord]:
        return {name: decode_pooler(value) for name, value in (await self.keys("poolers")).items()}

    async def primaries(self) -> list[PoolerRecord]:
        found = (await self.poolers()).values()
        return [record for record in found if record.is_primary and record.lifecycle != SHUTDOWN]

    async def multiadmin(self, method: str, path: str) -> tuple[int, Any]:
        """The status and the body of a response."""
        host, port = self._redirect(f"mini-multiadmin.{self.namespace}.svc", 18000)
        url = f"http://{host}:{port}/api/v1/{path}"
        async with aiohttp.ClientSession() as session, session.request(method, url, json={}) as response:
            return response.status, await response.json()

    async def server_status(self, record: PoolerRecord) -> Any:
        status, answer = await self.multiadmin("GET", f"poolers/{record.cell}/{record.name}/status")
        return answer["status"] if status == 200 else None

    async def replaceable_primary(self) -> PoolerRecord:
        """The primary, once every server is a member of the cohort.

        The first two servers that are ready elect the first primary. If its pod ends before others have joined, the
        one member that is left is no majority, and the shard stays without a primary: no operator runs here that
        would create the pod again."""
        return await eventually(self._primary_with_cohort)  # type: ignore[no-any-return]

    async def _primary_with_cohort(self) -> PoolerRecord | None:
        found = await self.primaries()
        status = await self.server_status(found[0]) if len(found) == 1 else None
        if status is None or "primaryStatus" not in status:
            return None
        cohort = status["primaryStatus"].get("syncReplicationConfig", {}).get("standbyIds", ())
        return found[0] if len(cohort) == SERVERS else None

    async def is_refused(self) -> bool:
        try:
            await self.multiadmin("GET", "poolers")
        except aiohttp.ClientConnectorError:
            return True
        return False

    async def delete_pod(self, name: str) -> None:
        await self.client.delete(Ref(POD, Key(self.namespace, name)), AT_ONCE)


async def eventually(read: Callable[[], Awaitable[Any]]) -> Any:
    """Call `read` until it returns something true; the limit is for a broken data plane, not for a slow machine."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while True:
            try:
                if found := await read():
                    return found
            except (EtcdError, aiohttp.ClientConnectorError):
                pass
            await asyncio.sleep(0.05)


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    for custom in CUSTOM_KINDS:
        await client.apply(definition(custom), APPLY)
    yield client
    await client.close()


@pytest.fixture
async def running(
    client: Client, control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> AsyncIterator[RunningDataPlane]:
    await until_served(client, namespace)
    for manifest in tree(namespace):
        await client.apply(manifest, APPLY)
    async with FakeDataPlane(fake_data_plane_settings(control_plane, namespace, tmp_path)) as plane:
        yield RunningDataPlane(client, namespace, plane)


def fake_data_plane_settings(
    control_plane: ControlPlane, namespace: str, directory: Path
) -> FakeDataPlaneSettings:
    return FakeDataPlaneSettings(control_plane.kubeconfig, directory, (namespace,), FAST)


async def until_served(client: Client, namespace: str) -> None:
    """Wait for both kinds: the API server begins to serve new ones one after the other."""
    for kind in (TOPO_SERVER, SHARD):
        while not await is_served(client, kind, namespace):
            await asyncio.sleep(0.05)


async def is_served(client: Client, kind: Kind, namespace: str) -> bool:
    try:
        await client.list(kind, ListQuery(namespace=namespace))
    except (NotFound, NoSuchKind):
        return False
    return True


async def test_pods_register_once_their_cell_and_database_are_registered(running: RunningDataPlane) -> None:
    for cell in ("z1", "z2"):
        record = CellRecord(cell, (running.address,), ROOT)
        await running.write(f"cells/{cell}/Cell", encode_cell(record))
    gateways = await eventually(lambda: running.keys("gateways"))
    assert all(name.startswith("multigateway-z") for name in gateways)
    assert await running.poolers() == {}, "a pooler waits for its database"
    await running.write("databases/postgres/Database", b"")
    await eventually(lambda: has(running.poolers, SERVERS))
    await eventually(lambda: has(lambda: running.keys("orchs"), 2))
    await eventually(lambda: has(lambda: running.keys("gateways"), 2))
    [primary] = await eventually(running.primaries)
    assert "-main-" in primary.name, "a readOnly pool never has the primary"


async def has(read: Callable[[], Awaitable[Any]], count: int) -> bool:
    return len(await read()) == count


async def test_a_terminated_primary_is_marked_and_replaced(running: RunningDataPlane) -> None:
    await running.register()
    primary = await running.replaceable_primary()
    gateway = next(iter(await eventually(lambda: running.keys("gateways"))))
    await running.delete_pod(primary.name)
    await running.delete_pod(gateway.removeprefix("multigateway-").partition("-")[2])
    moved = await eventually(lambda: moved_from(running, primary))
    assert moved.cell != primary.cell
    ended = (await running.poolers())[f"multipooler-{primary.cell}-{primary.name}"]
    assert (ended.lifecycle, ended.is_primary) == (SHUTDOWN, False)

    async def gateway_is_gone() -> bool:
        return gateway not in await running.keys("gateways")

    await eventually(gateway_is_gone)


async def moved_from(running: RunningDataPlane, primary: PoolerRecord) -> PoolerRecord | None:
    found = await running.primaries()
    return found[0] if len(found) == 1 and found[0].name != primary.name else None


async def test_faults_can_be_injected_and_cleared(running: RunningDataPlane) -> None:
    await running.register()
    await eventually(lambda: has(running.primaries, 1))
    running.plane.inject_faults(running.server, DataPlaneFault.TWO_PRIMARIES, DataPlaneFault.STALE_RECORDS)
    await eventually(lambda: has(running.primaries, 2))
    await eventually(lambda: has(running.poolers, 6))
    assert {"multipooler-z1-stale", "multipooler-z2-stale"} <= set(await running.poolers())
    running.plane.inject_faults(running.server, DataPlaneFault.NO_PRIMARY)
    await eventually(lambda: has(running.primaries, 0))
    running.plane.clear_faults(running.server)
    await eventually(lambda: has(running.primaries, 1))


async def test_an_etcd_without_ready_pods_is_stopped_and_a_deleted_one_removed(
    running: RunningDataPlane,
) -> None:
    await running.register()
    process = running.plane.servers.find_process(running.server)
    assert process is not None
    await running.delete_pod("mini-global-topo-0")

    async def is_down() -> bool:
        return not process.is_running()

    await eventually(is_down)
    await running.client.delete(Ref(TOPO_SERVER, running.server), AT_ONCE)

    async def is_removed() -> bool:
        return running.plane.servers.find_process(running.server) is None

    await eventually(is_removed)


async def test_after_a_restart_data_and_primary_are_kept(
    running: RunningDataPlane, control_plane: ControlPlane, tmp_path: Path
) -> None:
    await running.register()
    first = await running.replaceable_primary()
    await running.delete_pod(first.name)
    second = await eventually(lambda: moved_from(running, first))
    await running.plane.__aexit__(None, None, None)
    async with FakeDataPlane(fake_data_plane_settings(control_plane, running.namespace, tmp_path)) as plane:
        later = RunningDataPlane(running.client, running.namespace, plane)
        assert [record.name for record in await eventually(later.primaries)] == [second.name]
        status = await eventually(lambda: later.server_status(second))
        assert (status["postgresStatus"], status["postgresReady"]) == ("POSTGRES_STATUS_PRIMARY", True)


async def test_multiadmin_reports_servers_and_switches_the_primary(running: RunningDataPlane) -> None:
    await running.register()
    [primary] = await eventually(running.primaries)

    async def has_followers() -> bool:
        status = await running.server_status(primary)
        return status is not None and len(status["primaryStatus"].get("connectedFollowers", [])) == 3

    await eventually(has_followers)
    status, answer = await running.multiadmin("POST", "shards/postgres/default/0-inf/switch-primary")
    assert (status, answer["oldLeaderId"]["name"]) == (200, primary.name)
    moved = await eventually(lambda: moved_from(running, primary))
    assert "-main-" in moved.name

    async def streams_again() -> bool:
        status = await running.server_status(primary)
        return status is not None and "walReceiverStatus" in status.get("replicationStatus", {})

    await eventually(streams_again)


async def test_a_fault_of_a_pod_stops_its_postgres_and_one_of_the_shard_all_of_them(
    running: RunningDataPlane,
) -> None:
    await running.register()
    primary = await running.replaceable_primary()
    running.plane.inject_faults(Key(running.namespace, primary.name), DataPlaneFault.POSTGRES_DOWN)
    moved = await eventually(lambda: moved_from(running, primary))
    assert "postgresReady" not in await running.server_status(primary)
    [shard] = (await running.client.list(SHARD, ListQuery(namespace=running.namespace))).items
    running.plane.inject_faults(
        Key(running.namespace, shard["metadata"]["name"]), FaultWord(DataPlaneFault.QUARANTINED, moved.name)
    )

    async def is_quarantined() -> bool:
        return any(record.lifecycle == Lifecycle.QUARANTINED for record in (await running.poolers()).values())

    await eventually(is_quarantined)


async def test_multiadmin_refuses_connections_without_a_pod_and_by_a_fault(running: RunningDataPlane) -> None:
    await running.register()
    await eventually(lambda: running.multiadmin("GET", "poolers"))
    running.plane.inject_faults(running.server, DataPlaneFault.MULTIADMIN_AWAY)
    await eventually(running.is_refused)
    running.plane.clear_faults(running.server)
    await eventually(lambda: running.multiadmin("GET", "poolers"))
    await running.delete_pod("mini-multiadmin-0")
    await eventually(running.is_refused)


async def test_a_silent_multiadmin_accepts_connections_and_does_not_answer(running: RunningDataPlane) -> None:
    await eventually(lambda: running.multiadmin("GET", "poolers"))
    running.plane.inject_faults(running.server, DataPlaneFault.MULTIADMIN_SILENT)

    async def is_silent() -> bool:
        try:
            async with asyncio.timeout(0.5):
                await running.multiadmin("GET", "poolers")
        except TimeoutError:
            return True
        return False

    await eventually(is_silent)
