"""The operator is killed at every write of a Tenant's life, and the next one brings it to the same end.

A life: objects are made here and in another namespace, the template changes and drops one, the Tenant is deleted. The
operator that makes a killed life good is the one that is killed in the next: starting one takes longer than a life.
"""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import CONFIG_MAP, NAMESPACE, Key, Manifest, Ref
from steward.kube.objects.options import ApplyOptions, DeleteOptions, ListQuery
from steward.local.control_plane import ControlPlane
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.labels import TENANT, TENANT_NAMESPACE
from steward.testkit import FaultProxy, Match, Moment, WriteMoment, kill_at_write
from steward.testkit.crash_process import kill, start_process
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import config_map, resource, space

PATIENCE = 120.0
MOST_WRITES = 30
# Events are a courtesy: a lost one is not made good.
WRITES = Match(write=True, path=r"/(tenants|configmaps)/")


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not await condition():
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"never came true: {what}") from None


class Life:
    """One Tenant from its first write to its last."""

    def __init__(self, place: "Place", name: str) -> None:
        self._client, self._namespace, self._other = place
        self._name = name
        self._chapter = 0

    async def run(self) -> None:
        """From where it stands to its end: told again after a kill, it goes on."""
        for number, chapter in enumerate((self._made, self._changed, self._ended)):
            if number >= self._chapter:
                self._chapter = number
                await chapter()

    async def _made(self) -> None:
        kept, dropped = self._object("kept", v="1"), self._object("dropped")
        await self._write([kept, dropped, self._dependent("there")])
        await self._until_is({"kept": {"v": "1"}, "dropped": {}, "there": {}})

    async def _changed(self) -> None:
        await self._write([self._object("kept", v="2"), self._dependent("there")])
        await self._until_is({"kept": {"v": "2"}, "there": {}})

    async def _ended(self) -> None:
        with suppress(NotFound):
            await self._client.delete(self._ref, DeleteOptions())
        await eventually(self._is_gone, f"{self._name} leaves nothing behind")

    @property
    def _ref(self) -> Ref:
        return Ref(TENANT_KIND, Key(self._namespace, self._name))

    def _object(self, id: str, **data: str) -> Manifest:
        return resource(id, config_map(f"{self._name}-{id}", **data))

    def _dependent(self, id: str) -> Manifest:
        """In the other namespace, and after the one that is kept."""
        return resource(id, config_map(f"{self._name}-{id}", self._other), dependIds=["kept"])

    async def _write(self, config_maps: list[Manifest]) -> None:
        spec = {"uid": self._name, "templateRef": "t", "templateGeneration": 1, "configMaps": config_maps}
        metadata = {"name": self._name, "namespace": self._namespace}
        manifest = {
            "apiVersion": TENANT_KIND.api_version,
            "kind": "Tenant",
            "metadata": metadata,
            "spec": spec,
        }
        await self._client.apply(manifest, ApplyOptions(manager="registry"))

    async def _objects(self) -> dict[str, dict[str, str]]:
        selector = f"{TENANT}={self._name},{TENANT_NAMESPACE}={self._namespace}"
        found = await self._client.list(CONFIG_MAP, ListQuery(label_selector=selector))
        return {
            each["metadata"]["name"].removeprefix(f"{self._name}-"): each.get("data") or {}
            for each in found.items
        }

    async def _until_is(self, wanted: dict[str, dict[str, str]]) -> None:
        async def is_so() -> bool:
            tenant = await self._client.get(*self._ref)
            status = tenant.get("status") or {}
            truth = {each["type"]: each["status"] for each in status.get("conditions") or ()}
            if status.get("observedGeneration") != tenant["metadata"]["generation"]:
                return False
            recorded = {each.partition("@")[2] for each in status["appliedResources"]}
            return truth["Ready"] == "True" and recorded == set(wanted) and await self._objects() == wanted

        await eventually(is_so, f"{self._name} has {wanted}")

    async def _is_gone(self) -> bool:
        try:
            await self._client.get(*self._ref)
        except NotFound:
            return await self._objects() == {}
        return False


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


@pytest.fixture
async def other(client: Client) -> AsyncIterator[str]:
    """A second namespace, where no owner reference reaches."""
    name = f"other-{secrets.token_hex(4)}"
    await client.create(space(name))
    yield name
    await client.delete(Ref(NAMESPACE, Key("", name)))


@asynccontextmanager
async def operator(proxy: FaultProxy, namespace: str) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {
        "STEWARD_NAMESPACES": namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
    }
    command = [str(Path(sys.executable).parent / "steward"), "run", "tenants"]
    process = await start_process(command, proxy, environment)
    try:
        yield process
    finally:
        await kill(process)


class Place(NamedTuple):
    client: Client
    namespace: str
    other: str


@pytest.fixture
def place(kubectl: Kubectl, client: Client, namespace: str, other: str) -> Place:
    return Place(client, namespace, other)


@pytest.mark.timeout(1200)
async def test_a_kill_at_any_write_of_a_life_leads_to_the_same_end(
    place: Place, control_plane: ControlPlane
) -> None:
    # Committed and never heard of: what stands then is also what stands before the next write is sent.
    moment = Moment.AFTER
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        killed: Life | None = None
        for nth in range(1, MOST_WRITES):
            async with operator(proxy, place.namespace) as process:
                if killed is not None:
                    await killed.run()
                life = Life(place, f"life-{nth}")
                whole = asyncio.ensure_future(life.run())
                is_killed = await kill_at_write(process, proxy, WriteMoment(nth, moment, WRITES), until=whole)
            await asyncio.gather(whole, return_exceptions=True)
            if not is_killed:
                break
            killed = life
    # A finalizer, three objects, a change, three deletes and the statuses between them.
    assert 10 < nth < MOST_WRITES
