"""The stand-in on a real control plane, without an operator: the test itself registers cells and databases."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

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
from steward.testkit.fake_data_plane import DataPlane, DataPlaneSettings, Misbehaviour
from tests.multigres.support.tree import build_tree

ROOT = "/multigres/global"
ADDRESS = "mini-global-topo.{}.svc:2379"
POOLS = {
    "copies": {"type": "readOnly", "replicasPerCell": 1},
    "main": {"type": "readWrite", "replicasPerCell": 1},
}
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


def tree(namespace: str) -> Iterator[Manifest]:
    """A TopoServer, a Shard, and a pod of each workload: what the stand-in looks at, and nothing else."""
    cells = [{"zone": "z1"}, {"zone": "z2"}]
    for manifest in build_tree(namespace, cells=cells, databases=DATABASES):
        # No operator runs here that would answer a finalizer.
        for held in ("ownerReferences", "finalizers"):
            manifest["metadata"].pop(held, None)
        if manifest["kind"] in ("TopoServer", "Shard"):
            if manifest["kind"] == "TopoServer":
                manifest["spec"]["replicas"] = 1
            yield manifest
        elif manifest["kind"] in ("StatefulSet", "Deployment"):
            yield pod(manifest)


def pod(workload: Manifest) -> Manifest:
    template = workload["spec"]["template"]
    containers = [
        {"name": each["name"], "image": "none", "args": each.get("args", [])}
        for each in template["spec"]["containers"]
    ]
    metadata = {
        "name": f"{workload['metadata']['name']}-0",
        "namespace": workload["metadata"]["namespace"],
        "labels": template["metadata"]["labels"],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


class Scenery:
    """The stand-in at work in a namespace."""

    def __init__(self, client: Client, namespace: str, plane: DataPlane) -> None:
        self.client = client
        self.namespace = namespace
        self.plane = plane
        self.server = Key(namespace, "mini-global-topo")
        self.address = ADDRESS.format(namespace)
        redirect = Redirect((ForwardFile(Path(plane.connect_to[1:])),))
        self._endpoints = Endpoints((self.address,), None, redirect, 1.0)

    async def put(self, key: str, value: bytes) -> None:
        async def attempt() -> bool:
            async with EtcdClient(self._endpoints) as etcd:
                # A put whose answer came too late has been done: the next attempt finds the key there.
                return await etcd.put(f"{ROOT}/{key}", value, 0) or f"{ROOT}/{key}" in await etcd.list(
                    f"{ROOT}/{key}"
                )

        await eventually(attempt)

    async def register(self) -> None:
        for cell in ("z1", "z2"):
            await self.put(f"cells/{cell}/Cell", encode_cell(CellRecord(cell, (self.address,), ROOT)))
        await self.put("databases/postgres/Database", b"")

    async def keys(self, below: str) -> dict[str, bytes]:
        async with EtcdClient(self._endpoints) as etcd:
            found = await etcd.list(f"{ROOT}/{below}/")
        return {key.split("/")[-2]: value.value for key, value in found.items()}

    async def poolers(self) -> dict[str, PoolerRecord]:
        return {name: decode_pooler(value) for name, value in (await self.keys("poolers")).items()}

    async def primaries(self) -> list[PoolerRecord]:
        found = (await self.poolers()).values()
        return [each for each in found if each.is_primary and each.lifecycle != SHUTDOWN]

    async def delete_pod(self, name: str) -> None:
        await self.client.delete(Ref(POD, Key(self.namespace, name)), AT_ONCE)


async def eventually(look: Callable[[], Awaitable[Any]]) -> Any:
    """What `look` gives once that is something; the test's own time limit ends the wait."""
    while True:
        try:
            if found := await look():
                return found
        except EtcdError:
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
async def scenery(
    client: Client, control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> AsyncIterator[Scenery]:
    await until_served(client, namespace)
    for manifest in tree(namespace):
        await client.apply(manifest, APPLY)
    async with DataPlane(stand_in_settings(control_plane, namespace, tmp_path)) as plane:
        yield Scenery(client, namespace, plane)


def stand_in_settings(control_plane: ControlPlane, namespace: str, directory: Path) -> DataPlaneSettings:
    return DataPlaneSettings(control_plane.kubeconfig, directory, (namespace,), failover_seconds=0.2)


async def until_served(client: Client, namespace: str) -> None:
    """Both kinds: the server begins to serve new ones one after the other."""
    for kind in (TOPO_SERVER, SHARD):
        while not await is_served(client, kind, namespace):
            await asyncio.sleep(0.05)


async def is_served(client: Client, kind: Kind, namespace: str) -> bool:
    try:
        await client.list(kind, ListQuery(namespace=namespace))
    except (NotFound, NoSuchKind):
        return False
    return True


async def test_pods_register_themselves_once_their_cell_and_database_are_known(scenery: Scenery) -> None:
    for cell in ("z1", "z2"):
        record = CellRecord(cell, (scenery.address,), ROOT)
        await scenery.put(f"cells/{cell}/Cell", encode_cell(record))
    gateways = await eventually(lambda: scenery.keys("gateways"))
    assert all(name.startswith("multigateway-z") for name in gateways)
    assert await scenery.poolers() == {}, "a pooler waits for its database"
    await scenery.put("databases/postgres/Database", b"")
    await eventually(lambda: has(scenery.poolers, 4))
    await eventually(lambda: has(lambda: scenery.keys("orchs"), 2))
    await eventually(lambda: has(lambda: scenery.keys("gateways"), 2))
    [primary] = await scenery.primaries()
    assert "-main-" in primary.name, "a pool that is read only never holds the primary"


async def has(look: Callable[[], Awaitable[Any]], count: int) -> bool:
    return len(await look()) == count


async def test_what_ends_says_so_and_another_one_leads(scenery: Scenery) -> None:
    await scenery.register()
    [primary] = await eventually(scenery.primaries)
    gateway = next(iter(await eventually(lambda: scenery.keys("gateways"))))
    await scenery.delete_pod(primary.name)
    await scenery.delete_pod(gateway.removeprefix("multigateway-").partition("-")[2])
    moved = await eventually(lambda: moved_from(scenery, primary))
    assert moved.cell != primary.cell
    ended = (await scenery.poolers())[f"multipooler-{primary.cell}-{primary.name}"]
    assert (ended.lifecycle, ended.is_primary) == (SHUTDOWN, True)

    async def gateway_is_gone() -> bool:
        return gateway not in await scenery.keys("gateways")

    await eventually(gateway_is_gone)


async def moved_from(scenery: Scenery, primary: PoolerRecord) -> PoolerRecord | None:
    found = await scenery.primaries()
    return found[0] if len(found) == 1 and found[0].name != primary.name else None


async def test_it_can_be_told_to_misbehave_and_to_behave_again(scenery: Scenery) -> None:
    await scenery.register()
    await eventually(lambda: has(scenery.primaries, 1))
    scenery.plane.misbehave(scenery.server, Misbehaviour.TWO_PRIMARIES, Misbehaviour.STALE_RECORDS)
    await eventually(lambda: has(scenery.primaries, 2))
    await eventually(lambda: has(scenery.poolers, 6))
    assert {"multipooler-z1-stale", "multipooler-z2-stale"} <= set(await scenery.poolers())
    scenery.plane.misbehave(scenery.server, Misbehaviour.NO_PRIMARY)
    await eventually(lambda: has(scenery.primaries, 0))
    scenery.plane.behave(scenery.server)
    await eventually(lambda: has(scenery.primaries, 1))


async def test_a_server_without_ready_pods_does_not_answer_and_one_that_is_deleted_is_forgotten(
    scenery: Scenery,
) -> None:
    await scenery.register()
    process = scenery.plane.servers.of(scenery.server)
    assert process is not None
    await scenery.delete_pod("mini-global-topo-0")

    async def is_down() -> bool:
        return not process.is_running()

    await eventually(is_down)
    await scenery.client.delete(Ref(TOPO_SERVER, scenery.server), AT_ONCE)

    async def is_forgotten() -> bool:
        return scenery.plane.servers.of(scenery.server) is None

    await eventually(is_forgotten)


async def test_one_that_starts_anew_goes_on_with_the_data_and_the_primary_that_there_were(
    scenery: Scenery, control_plane: ControlPlane, tmp_path: Path
) -> None:
    await scenery.register()
    await eventually(lambda: has(scenery.poolers, 4))
    [first] = await eventually(scenery.primaries)
    await scenery.delete_pod(first.name)
    second = await eventually(lambda: moved_from(scenery, first))
    await scenery.plane.__aexit__(None, None, None)
    async with DataPlane(stand_in_settings(control_plane, scenery.namespace, tmp_path)) as plane:
        later = Scenery(scenery.client, scenery.namespace, plane)
        assert [each.name for each in await eventually(later.primaries)] == [second.name]
